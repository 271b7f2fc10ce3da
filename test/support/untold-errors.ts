import { type ErrorFacts, errors } from '../../generated/errors.ts';

/** All that errors.yaml says is told, in the form of the notes; a management error has no code. */
export const knownErrors: ReadonlySet<string> = new Set(
  (errors as readonly ErrorFacts[]).flatMap(({ code, statuses, families }) =>
    families.flatMap((family) => {
      if (['task', 'realtime', 'inference'].includes(family)) return [`${family} ${code}`];
      return statuses.map((status) => `${family} ${status}${family === 'management' ? '' : ` ${code}`}`);
    }),
  ),
);

/** Errors of errors.yaml that no test brings about, in the form of the notes, each with its reason. */
export const untoldErrors: ReadonlyMap<string, string> = new Map();

/** What is wrong with a whole run: errors that no test brought about, and reasons that hold no more. */
export function errorProblems(
  told: ReadonlySet<string>,
  known: ReadonlySet<string> = knownErrors,
  excused: ReadonlyMap<string, string> = untoldErrors,
): string[] {
  return [
    ...[...known]
      .filter((error) => !told.has(error) && !excused.has(error))
      .map((error) => `no test brings about the error ${error}`),
    ...[...excused.keys()]
      .filter((error) => told.has(error) || !known.has(error))
      .map((error) => `untold-errors.ts excuses ${error}, which is told or does not exist`),
  ];
}
