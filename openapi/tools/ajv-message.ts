import type { ErrorObject } from 'ajv';

/** The message of an Ajv error, with the allowed values of `const` and `enum`, which Ajv omits. */
export function ajvMessage({
  keyword,
  message = '',
  params,
}: Pick<ErrorObject, 'keyword' | 'message' | 'params'>): string {
  const { allowedValue, allowedValues } = params as { allowedValue?: unknown; allowedValues?: unknown[] };
  if (keyword === 'const') return `${message} ${JSON.stringify(allowedValue)}`;
  if (keyword !== 'enum' || allowedValues === undefined) return message;
  return `${message}: ${allowedValues.map((value) => JSON.stringify(value)).join(', ')}`;
}
