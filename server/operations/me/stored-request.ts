import { pickDefined } from '../../lib/json.ts';
import type { TaskRecord } from '../../store/queries/tasks.ts';

/** The facts that are parts of the request. All others are for drivers, such as ids of the provider. */
const requestFacts = [
  'prompt',
  'seconds',
  'size',
  'service_tier',
  'draft_task_id',
  'safety_identifier',
  'custom_domain',
  'action',
  'custom_id',
  'state',
  'input',
] as const;

const maxTextLength = 10_000;
const shownOfMedia = 64;

/** Returns the stored parts of the request of a task. */
export function storedRequest({ facts }: Pick<TaskRecord, 'facts'>): Record<string, unknown> {
  return shortened(pickDefined(requestFacts, (name) => facts[name])) as Record<string, unknown>;
}

/** Shortens long texts and inline media at any depth. */
function shortened(value: unknown): unknown {
  if (typeof value === 'string') return shortenedText(value);
  if (Array.isArray(value)) return value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, shortened(field)]));
}

function shortenedText(text: string): string {
  const limit = /^data:/i.test(text) ? shownOfMedia : maxTextLength;
  return text.length <= limit ? text : `${text.slice(0, limit)}… (${text.length} characters)`.toWellFormed();
}
