import type { Settings } from '../settings/settings.ts';
import { openStore } from '../store/open-store.ts';
import type { Store, StoreOptions } from '../store/store.ts';
import type { Logger } from '../telemetry/logger.ts';

type Options = Pick<StoreOptions, 'dataDir' | 'databaseUrl' | 'postgres'>;

/** Returns the options of the store that the settings name. */
export function storeOptions({ dataDir, databaseUrl, database }: Settings): Options {
  return { dataDir, ...(databaseUrl !== undefined && { databaseUrl }), postgres: database };
}

/** Opens the store of a gateway, which logs changes of its availability. */
export function openGatewayStore(settings: Settings, logger: Logger): Promise<Store> {
  return openStore({
    ...storeOptions(settings),
    changeFeed: {
      databaseUrl: settings.databaseListenUrl,
      onConnection: (isConnected, reason) => {
        if (isConnected) logger.info('the change feed is connected');
        else logger.warn({ err: reason }, 'the change feed is disconnected; changes are polled');
      },
    },
    onAvailability: (isAway, cause) => {
      if (isAway) logger.error({ err: cause }, 'the store is unavailable');
      else logger.warn('the store is available again');
    },
  });
}
