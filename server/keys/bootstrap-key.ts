import type { Settings } from '../settings/settings.ts';
import { generateKey, hashKey, keyHint } from '../store/keys.ts';
import type { Store } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

/**
 * Creates the key of `BOOTSTRAP_KEY`, or without one the first key, unless it exists. Returns a key that it generated.
 * Warns of bootstrap keys that are still valid and of a `BOOTSTRAP_KEY` that gives no admin access.
 */
export async function ensureKey(
  settings: Pick<Settings, 'bootstrapKey'>,
  store: Pick<Store, 'run'>,
  logger: Logger,
  now: number,
): Promise<string | undefined> {
  const key = settings.bootstrapKey ?? generateKey();
  const onlyFirst = settings.bootstrapKey === undefined;
  const { created, deleted, lacksAdmin, earlier } = await store.run('ensureBootstrap', {
    keyHash: hashKey(key),
    keyHint: keyHint(key),
    onlyFirst,
    now,
  });
  if (deleted) logger.warn('BOOTSTRAP_KEY was deleted and is not created again. Set another one.');
  if (lacksAdmin)
    logger.warn('The key of BOOTSTRAP_KEY has no admin access. Set another one to get an admin key.');
  if (earlier.length > 0) {
    const ids = earlier.map(({ id }) => id);
    const commands = ids.map((id) => `npm run admin -- keys revoke ${id}`).join(' && ');
    const message = `Other bootstrap keys are still valid: ${ids.join(', ')}. To end them and the keys created with them: ${commands}`;
    logger.warn({ keys: earlier }, `${message} (--keep-children keeps the created keys)`);
  }
  return created && onlyFirst ? key : undefined;
}
