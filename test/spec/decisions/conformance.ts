import type { Limits } from '../../support/limits.ts';

/** Limits of conformance runs. */
export const conformance: Limits = {
  'TestConformanceRequest.base_url': { maxLength: 2048, pattern: '^[Hh][Tt][Tt][Pp][Ss]?://' },
  'TestConformanceRequest.api_key': { maxLength: 512, pattern: '^[\\x21-\\x7E]+$' },
  'TestConformanceRequest.only': { maxItems: 100 },
  'TestConformanceRequest.only[]': { maxLength: 64, minLength: 1 },
  'TestConformanceRequest.runs': { default: 5, maximum: 1000, minimum: 0 },
  'TestConformanceRequest.seed': { maximum: 2147483647, minimum: 0 },
  'TestConformanceRequest.triggers': { default: 'auto', enum: ['auto', 'on', 'off'] },
  'TestConformanceRequest.admin': { default: false },
  'RunStarted.type': { const: 'run_started' },
  'ConformanceCheck.outcome': { enum: ['passed', 'failed', 'skipped'] },
  'CheckFinished.type': { const: 'check_finished' },
  'CheckWaiting.type': { const: 'check_waiting' },
  'ConformanceEventCell.direction': { enum: ['client', 'server'] },
  'RunFinished.type': { const: 'run_finished' },
  'RunFailed.type': { const: 'run_failed' },
};
