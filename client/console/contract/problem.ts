import { formatCount, formatNumber } from '../parts/numbers.tsx';
import type { Schema } from './contract.ts';

/** Returns why a value does not fit the schema of its field, as a sentence. Undefined if it fits. */
export function problemOf(schema: Schema, value: unknown, isRequired: boolean): string | undefined {
  if (value === undefined) return isRequired ? 'This field is required.' : undefined;
  if (typeof value === 'string') return textProblem(schema, value);
  if (typeof value === 'number') return numberProblem(schema, value);
  if (Array.isArray(value)) return listProblem(schema, value.length);
  return undefined;
}

function textProblem(schema: Schema, text: string) {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern, 'x-form': rule } = schema;
  const length = Array.from(text).length;
  if (length < minLength) return `Enter at least ${formatCount(minLength)} characters.`;
  if (length > maxLength)
    return `Enter at most ${formatCount(maxLength)} characters, not ${formatCount(length)}.`;
  if (pattern !== undefined && rule !== undefined && !new RegExp(pattern, 'u').test(text))
    return `This ${rule}.`;
  return undefined;
}

function numberProblem({ minimum, maximum, type }: Schema, value: number) {
  if (Number.isNaN(value)) return 'Enter a number.';
  if (type === 'integer' && !Number.isInteger(value)) return 'Enter a whole number.';
  if (minimum !== undefined && value < minimum) return `Enter at least ${formatNumber(minimum)}.`;
  if (maximum !== undefined && value > maximum) return `Enter at most ${formatNumber(maximum)}.`;
  return undefined;
}

function listProblem({ minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema, length: number) {
  if (length < minItems) return `Add at least ${minItems} items.`;
  if (length > maxItems) return `Add at most ${formatCount(maxItems)} items, not ${formatCount(length)}.`;
  return undefined;
}

/** A maximum that stands for none. */
const maxInt32 = 2 ** 31 - 1;

/** Returns the limit of a field in a few words: `0.25–4`, `up to 600 characters`. */
export function limitOf(schema: Schema, model: string | undefined): string | undefined {
  const ofModel = schema['x-limit']?.find(
    ({ models }) => model !== undefined && new RegExp(models).test(model),
  );
  if (ofModel !== undefined) return ofModel.limit.replace(/\.(?: .*)?$/s, '');
  const { maxLength, maxItems } = schema;
  // A value below the usual ones, such as -1, has a meaning of its own.
  const minimum = schema.then?.minimum ?? schema.minimum;
  const maximum = schema.maximum === undefined || schema.maximum >= maxInt32 ? undefined : schema.maximum;
  if (minimum !== undefined && maximum !== undefined)
    return `${formatNumber(minimum)}–${formatNumber(maximum)}`;
  if (maximum !== undefined) return `at most ${formatNumber(maximum)}`;
  if (minimum !== undefined) return `at least ${formatNumber(minimum)}`;
  if (maxLength !== undefined && schema.format !== 'uri')
    return `at most ${formatCount(maxLength)} characters`;
  if (maxItems !== undefined) return `at most ${formatCount(maxItems)} items`;
  return undefined;
}
