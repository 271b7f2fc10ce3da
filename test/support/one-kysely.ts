import { registerHooks } from 'node:module';

// Loaded before everything else by the runner's workers, by the threads that they start and by processes of tests.
const file = process.env.KYSELY_FILE;
const original = import.meta.resolve('kysely');

if (file !== undefined) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      return found.url === original ? { ...found, url: file } : found;
    },
  });
}
