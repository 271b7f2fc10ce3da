import type { Unit } from '../../../generated/catalogue.ts';
import type { Usage } from '../../quota/metering.ts';

/**
 * Reads a native `usage` object in the model's unit: characters, or input and output tokens.
 * Undefined without a valid count in that unit.
 */
export function readUsage(unit: Unit, report: unknown): Usage | undefined {
  if (typeof report !== 'object' || report === null) return undefined;
  const inputTokens = count(report, 'input_tokens');
  const outputTokens = count(report, 'output_tokens');
  const units = unit === 'characters' ? count(report, 'characters') : sum(inputTokens, outputTokens);
  if (units === undefined) return undefined;
  return { units, inputTokens: inputTokens ?? 0, outputTokens: outputTokens ?? 0 };
}

/** A larger count is invalid and must not be charged. */
const maxUnits = 1e9;

function count(report: object, name: string): number | undefined {
  const value: unknown = (report as Record<string, unknown>)[name];
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxUnits
    ? value
    : undefined;
}

function sum(left: number | undefined, right: number | undefined): number | undefined {
  return left === undefined && right === undefined ? undefined : (left ?? 0) + (right ?? 0);
}
