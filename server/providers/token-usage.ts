import type { Unit } from '../../generated/catalogue.ts';
import { field } from '../lib/json.ts';
import type { Usage } from '../quota/metering.ts';

/** A larger count is invalid and must not be charged. */
const maxCount = 1e9;

/** Returns the first valid count among the names. */
export function countIn(report: unknown, ...names: readonly string[]): number | undefined {
  return names
    .map((name) => field(report, name))
    .find(
      (value): value is number =>
        typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= maxCount,
    );
}

/** Reads a native `usage` object in the model's unit. Undefined without a valid count in that unit. */
export function readUsage(unit: Unit, report: unknown): Usage | undefined {
  const input = countIn(report, 'input_tokens');
  const output = countIn(report, 'output_tokens');
  const tokens = usageOf(input ?? 0, output ?? 0);
  if (unit !== 'characters') return input === undefined && output === undefined ? undefined : tokens;
  const units = countIn(report, 'characters');
  return units === undefined ? undefined : { ...tokens, units };
}

export function usageOf(inputTokens: number, outputTokens: number): Usage {
  return { units: inputTokens + outputTokens, inputTokens, outputTokens };
}

/** Token counts under both common pairs of names. */
export function countersOf(inputTokens: number, outputTokens: number) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    input_tokens: inputTokens,
    output_tokens: outputTokens,
  };
}
