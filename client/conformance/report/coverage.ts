import { type ErrorFacts, errors } from '../../../generated/errors.ts';
import { deref, type JsonObject, objects, refName } from '../../../openapi/tools/document.ts';
import { documentedOperations } from '../contract/documented.ts';
import { eventBundle } from '../contract/schemas.ts';
import type { Seen } from '../subject/seen.ts';
import { reasonOfAnswer, reasonOfError, reasonOfEvent } from './reasons.ts';
import type { AnswerCell, ErrorCell, EventCell } from './results.ts';

/** Why a check of that operation was skipped, and which checks there were. */
export type SkippedReason = (operation: string, status: number) => string | undefined;

/** Every documented answer of the operations, and whether it was seen. */
export function answerCells(seen: Seen, tried: ReadonlySet<string>, skipped: SkippedReason): AnswerCell[] {
  return [...documentedOperations.values()]
    .filter(({ id, aliasOf }) => aliasOf === undefined && tried.has(id))
    .flatMap(({ id, responses }) =>
      responses.flatMap(({ status, content }) =>
        (content.length === 0 ? [''] : content.map((media) => media.mediaType)).map((mediaType) => {
          const cell = { operation: id, status, mediaType };
          if (seen.answers.has(`${id} ${status} ${mediaType}`.trim())) return { ...cell, seen: true };
          return { ...cell, seen: false, reason: skipped(id, status) ?? reasonOfAnswer(status, mediaType) };
        }),
      ),
    );
}

/** Every message of every channel, with who sends it. */
export function eventCells(seen: Seen): EventCell[] {
  return objects(eventBundle.operations).flatMap(([, { action, channel, messages }]) => {
    const name = refName((channel as { $ref: string }).$ref);
    const direction = action === 'receive' ? ('client' as const) : ('server' as const);
    const all = Array.isArray(messages)
      ? messages
      : Object.values(deref(eventBundle, channel).messages as JsonObject);
    return all.map((message) => {
      const at = refName(String(deref(eventBundle, message).$at));
      const cell = { channel: name, direction, message: at };
      if (seen.events.has(`${name} ${direction} ${at}`)) return { ...cell, seen: true };
      return { ...cell, seen: false, reason: reasonOfEvent(name, at) };
    });
  });
}

/** Every code of the catalogue, in each family that tells it. */
export function errorCells(seen: Seen): ErrorCell[] {
  const all: readonly ErrorFacts[] = errors;
  const cells = all.flatMap(({ code, statuses, families }) =>
    families.flatMap((family): ErrorCell[] => {
      if (['task', 'realtime', 'inference'].includes(family))
        return [{ family, code, ...told(seen, `${family} ${code}`) }];
      // A management error has no code.
      return statuses.map((status) => ({
        family,
        status,
        code,
        ...told(seen, family === 'management' ? `${family} ${status}` : `${family} ${status} ${code}`),
      }));
    }),
  );
  return cells;
}

const told = (seen: Seen, error: string) =>
  seen.errors.has(error) ? { seen: true } : { seen: false, reason: reasonOfError(error) };
