import { isObject } from '../http/json-body.ts';
import { Parameters } from '../native/parameters.ts';

const actions = ['run-task', 'continue-task', 'finish-task'] as const;
const uuid = /^[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$/i;

/** A frame whose task is known. */
export interface ClientFrame {
  taskId: string;
  body: Parameters;
}

/** Undefined for a frame in which no task can be found. */
export function parseFrame(text: string): ClientFrame | undefined {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(body) || !isObject(body.header)) return undefined;
  const { task_id: taskId } = body.header;
  if (typeof taskId !== 'string' || !uuid.test(taskId)) return undefined;
  return { taskId, body: new Parameters(body, '') };
}

/** The action of a frame and its payload. Throws `InvalidParameter`. */
export function readFrame({ body }: ClientFrame): { action: (typeof actions)[number]; payload: Parameters } {
  const header = body.requiredObject('header');
  const action = header.optionalChoice('action', actions);
  if (!action) throw header.wrong('action', 'is required');
  if (header.string('streaming') !== 'duplex') throw header.wrong('streaming', 'must be duplex');
  const payload = body.requiredObject('payload');
  const input = payload.requiredObject('input');
  if (action !== 'continue-task' && !input.empty) throw payload.wrong('input', 'must be empty');
  return { action, payload };
}

/** What `run-task` must always say. */
export function checkTaskKind(payload: Parameters): void {
  for (const [name, value] of [
    ['task_group', 'audio'],
    ['task', 'tts'],
    ['function', 'SpeechSynthesizer'],
  ] as const) {
    if (payload.string(name) !== value) throw payload.wrong(name, `must be ${value}`);
  }
  const parameters = payload.requiredObject('parameters');
  if (parameters.string('text_type') !== 'PlainText')
    throw parameters.wrong('text_type', 'must be PlainText');
}
