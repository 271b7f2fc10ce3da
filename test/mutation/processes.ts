import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Id of the active mutant. Undefined in Stryker's first run, which has none. */
    activeMutant?: string;
  }
}

// Threads and processes that a test starts run the same copy, and read the active mutant from the environment.
const variable = '__STRYKER_ACTIVE_MUTANT__';
const active = inject('activeMutant');
if (active === undefined) delete process.env[variable];
else process.env[variable] = active;
