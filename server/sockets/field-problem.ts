import type { EventError, EventValidator } from '../../generated/event-validators.js';
import { valueProblem } from '../http/value-problem.ts';

/** What is wrong with an event: which field, and what it must be. */
export interface FieldProblem {
  /** Path with dots; empty for the whole event. */
  field: string;
  message: string;
  /** Whether something is missing or of the wrong type, rather than out of its range. */
  malformed: boolean;
}

/** What the generated validator has against a value, or what no field may hold; undefined when it is valid. */
export function fieldProblem<Event>(
  validate: EventValidator<Event>,
  value: unknown,
): FieldProblem | undefined {
  const foreign = valueProblem(value);
  if (foreign !== undefined) return { ...foreign, malformed: false };
  if (validate(value)) return undefined;
  const [error] = validate.errors ?? [];
  if (error === undefined) return { field: '', message: 'is not valid.', malformed: true };
  const at = error.instancePath.split('/').slice(1);
  if (error.keyword === 'required') at.push(String(error.params.missingProperty));
  return {
    field: at.join('.'),
    message: `${explain(error)}.`,
    malformed: ['required', 'type'].includes(error.keyword),
  };
}

function explain({ keyword, params, message }: EventError): string {
  if (keyword === 'required') return 'is required';
  if (keyword === 'const') return `must be ${JSON.stringify(params.allowedValue)}`;
  if (keyword === 'enum') return `must be one of ${(params.allowedValues as unknown[]).join(', ')}`;
  if (keyword === 'maxProperties') return 'must be empty';
  if (keyword === 'pattern') return 'is not in the right form';
  return message ?? 'is not valid';
}
