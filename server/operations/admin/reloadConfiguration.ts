import type { Handler } from '../../http/handler.ts';
import { Failure } from '../../lib/failure.ts';
import type { SettingsChanges } from '../../settings/changes.ts';
import { loadedPrices } from '../../settings/loaded-prices.ts';
import { SettingsError } from '../../settings/settings-error.ts';
import { success } from '../success.ts';
import { changeBy } from './admin-change.ts';

/** Reloads the configuration on all workers of this gateway, or with `dry_run` only compares it with the current one. */
export const reloadConfiguration: Handler<'reloadConfiguration'> = async (request, reply) => {
  const { gateway, query } = request;
  const { liveSettings, store } = gateway;
  const dryRun = query.dry_run === true;
  const reading = dryRun
    ? liveSettings.compare()
    : liveSettings.reload(async (changes, next) => {
        const change = changeBy(request, 'reloadConfiguration');
        await store.run('recordPrices', {
          ...loadedPrices(next),
          cause: 'api',
          request: { ...change, subject: 'configuration', details: changedOnly(changes) },
          now: change.now,
        });
      });
  const { needsRestart, ...changes } = await reading.catch((cause: unknown) => {
    throw cause instanceof SettingsError
      ? new Failure(400, 'invalid_configuration', cause.message, { cause })
      : cause;
  });
  if (!dryRun) await gateway.siblings?.reload();
  const file = gateway.settings.file ?? null;
  reply.json(200, success({ file, applied: !dryRun, ...changes, needs_restart: needsRestart }));
};

/** Returns the details that are recorded: no unchanged names and no warnings. */
function changedOnly({ channels, groups, prices, settings, needsRestart, revision }: SettingsChanges) {
  const changed = ({ unchanged: _, ...names }: SettingsChanges['channels']) => names;
  const named = { channels: changed(channels), groups: changed(groups), prices: changed(prices) };
  return { ...named, settings, needs_restart: needsRestart, revision };
}
