import { registerHooks } from 'node:module';

// Loaded first by the runner's workers, by the threads that they start and by processes of tests.
const { KYSELY_FILE } = process.env;

if (KYSELY_FILE !== undefined) {
  const original = import.meta.resolve('kysely');
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === original ? { ...found, url: KYSELY_FILE, format: 'module' } : found;
    },
  });
}
