import { type ErrorFacts, errors } from '../../generated/errors.ts';

/** Every error of errors.yaml, in the format of the records. Management errors have no code. */
export const knownErrors: ReadonlySet<string> = new Set(
  (errors as readonly ErrorFacts[]).flatMap(({ code, statuses, families }) =>
    families.flatMap((family) => {
      if (['task', 'realtime', 'inference'].includes(family)) return [`${family} ${code}`];
      return statuses.map((status) => `${family} ${status}${family === 'management' ? '' : ` ${code}`}`);
    }),
  ),
);

/** Errors of errors.yaml that no test causes, in the format of the records, with reasons. */
const uncoveredErrors: ReadonlyMap<string, string> = new Map();

/** Checks the errors of a complete run. Returns errors that no test caused, and exemptions that no longer apply. */
export function errorProblems(
  recorded: ReadonlySet<string>,
  known: ReadonlySet<string> = knownErrors,
  exempt: ReadonlyMap<string, string> = uncoveredErrors,
): string[] {
  return [
    ...[...known]
      .filter((error) => !recorded.has(error) && !exempt.has(error))
      .map((error) => `no test causes the error ${error}`),
    ...[...exempt.keys()]
      .filter((error) => recorded.has(error) || !known.has(error))
      .map((error) => `uncovered-errors.ts lists ${error}, which a test causes or which does not exist`),
  ];
}
