import type { Usage } from '../quota/metering.ts';
import { field } from './json.ts';

/** Token counts under both common pairs of names. */
export interface TokenCounters {
  prompt_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  input_tokens: number;
  output_tokens: number;
}

export function countersOf(inputTokens: number, outputTokens: number): TokenCounters {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  };
}

export function usageOf(inputTokens: number, outputTokens: number): Usage {
  return { units: inputTokens + outputTokens, inputTokens, outputTokens };
}

/** A larger count is invalid and must not be charged. */
const maxTokens = 1e9;

/** Returns the first valid token count among the names. */
export function tokensIn(report: unknown, ...names: readonly string[]): number | undefined {
  return names.map((name) => field(report, name)).find(isCount);
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxTokens;
}
