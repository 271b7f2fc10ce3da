import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { type Accepted, type Frame, startSocketServer } from './socket-server.ts';

interface Step {
  from: 'server' | 'client';
  event?: Frame;
  binary?: string;
}

interface Dialogue {
  query: { model: string };
  steps: Step[];
  close: { from: 'server' | 'client'; code: number; reason?: string };
}

const folder = join(import.meta.dirname, '../../asyncapi/examples');

/**
 * Starts a gateway that plays an example of the AsyncAPI document. A client event must equal the one in the example, except
 * for the ids that the client chooses. Server events contain these ids.
 */
export async function playDialogue(name: string) {
  const dialogue = parse(await readFile(join(folder, `${name}.yaml`), 'utf8')) as Dialogue;
  const problems: unknown[] = [];
  const ids = new Map<string, string>();
  let at = 0;

  const proceed = (accepted: Accepted) => {
    for (let step = dialogue.steps[at]; step?.from === 'server'; step = dialogue.steps[++at]) {
      if (step.binary !== undefined) accepted.socket.send(Buffer.from(step.binary, 'base64'));
      else accepted.send(rename(step.event ?? {}, ids));
    }
    const { close } = dialogue;
    if (at === dialogue.steps.length && close.from === 'server')
      accepted.socket.close(close.code, close.reason);
  };
  const server = await startSocketServer({
    opened: proceed,
    frame(accepted, frame) {
      const expected = dialogue.steps[at++]?.event ?? {};
      const [theirs, ours] = [idOf(expected), idOf(frame)];
      if (theirs !== undefined && ours !== undefined) ids.set(theirs, ours);
      try {
        expect(frame).toEqual(rename(expected, ids));
      } catch (error) {
        problems.push(error);
        accepted.socket.terminate();
      }
      proceed(accepted);
    },
  });
  return {
    ...server,
    model: dialogue.query.model,
    steps: dialogue.steps,
    /** Client events that differ from the example. */
    problems,
    /** Whether the whole example was played. */
    played: () => at === dialogue.steps.length,
  };
}

function idOf(event: Frame): string | undefined {
  const header = event.header as { task_id?: string } | undefined;
  return header?.task_id ?? (event.event_id as string | undefined);
}

function rename(event: Frame, ids: ReadonlyMap<string, string>): Frame {
  return JSON.parse(
    JSON.stringify(event, (_, value: unknown) =>
      typeof value === 'string' ? (ids.get(value) ?? value) : value,
    ),
  ) as Frame;
}
