import { inject } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** The change that is tried now, by the mutation tester's number; absent in its first run, which changes nothing. */
    activeMutant?: string;
  }
}

// Threads and processes that a test starts run the same copy, and read there which change is on.
const variable = '__STRYKER_ACTIVE_MUTANT__';
const active = inject('activeMutant');
if (active === undefined) delete process.env[variable];
else process.env[variable] = active;
