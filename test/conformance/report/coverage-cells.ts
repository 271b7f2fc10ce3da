import { type ErrorFacts, errors } from '../../../generated/errors.ts';
import { deref, type JsonObject, objects, refName } from '../../../openapi/tools/document.ts';
import type { Coverage } from '../context/coverage.ts';
import { documentedOperations } from '../contract/documented.ts';
import { eventBundle } from '../contract/schemas.ts';
import { reasonForError, reasonForEvent, reasonForResponse } from './reasons.ts';
import type { ErrorCell, EventCell, ResponseCell } from './report.ts';

/** Returns why the check for a status of an operation was skipped, if it was. */
export type SkippedReason = (operation: string, status: number) => string | undefined;

/** Returns every documented response of the operations, and whether it is covered. */
export function responseCells(
  coverage: Coverage,
  operations: ReadonlySet<string>,
  skipped: SkippedReason,
): ResponseCell[] {
  return [...documentedOperations.values()]
    .filter(({ id, aliasOf }) => aliasOf === undefined && operations.has(id))
    .flatMap(({ id, responses }) =>
      responses.flatMap(({ status, content }) =>
        (content.length === 0 ? [''] : content.map((media) => media.mediaType)).map((mediaType) => {
          const cell = { operation: id, status, mediaType };
          if (coverage.responses.has(`${id} ${status} ${mediaType}`.trim()))
            return { ...cell, covered: true };
          return {
            ...cell,
            covered: false,
            reason: skipped(id, status) ?? reasonForResponse(status, mediaType),
          };
        }),
      ),
    );
}

/** Returns every message of every channel with its sender, and whether it is covered. */
export function eventCells(coverage: Coverage): EventCell[] {
  return objects(eventBundle.operations).flatMap(([, { action, channel, messages }]) => {
    const name = refName((channel as { $ref: string }).$ref);
    const direction = action === 'receive' ? ('client' as const) : ('server' as const);
    const all = Array.isArray(messages)
      ? messages
      : Object.values(deref(eventBundle, channel).messages as JsonObject);
    return all.map((message) => {
      const at = refName(String(deref(eventBundle, message).$at));
      const cell = { channel: name, direction, message: at };
      if (coverage.events.has(`${name} ${direction} ${at}`)) return { ...cell, covered: true };
      return { ...cell, covered: false, reason: reasonForEvent(name, at) };
    });
  });
}

/** Returns every code of errors.yaml in each of its families, and whether it is covered. */
export function errorCells(coverage: Coverage): ErrorCell[] {
  const all: readonly ErrorFacts[] = errors;
  const cells = all.flatMap(({ code, statuses, families }) =>
    families.flatMap((family): ErrorCell[] => {
      if (['task', 'realtime', 'inference'].includes(family))
        return [{ family, code, ...cellState(coverage, `${family} ${code}`) }];
      // Management errors have no code.
      return statuses.map((status) => ({
        family,
        status,
        code,
        ...cellState(
          coverage,
          family === 'management' ? `${family} ${status}` : `${family} ${status} ${code}`,
        ),
      }));
    }),
  );
  return cells;
}

const cellState = (coverage: Coverage, error: string) =>
  coverage.errors.has(error) ? { covered: true } : { covered: false, reason: reasonForError(error) };
