import { registerHooks } from 'node:module';

// Loaded before everything else by the runner's workers, by the threads that they start and by processes of tests.
const made = new Map<string, string>();
const { KYSELY_FILE, THREAD_FILES } = process.env;
if (KYSELY_FILE !== undefined) made.set(import.meta.resolve('kysely'), KYSELY_FILE);
if (THREAD_FILES !== undefined)
  for (const [original, file] of Object.entries<string>(JSON.parse(THREAD_FILES))) made.set(original, file);

if (made.size > 0) {
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context);
      const file = made.get(found.url);
      return file === undefined ? found : { ...found, url: file, format: 'module' };
    },
  });
}
