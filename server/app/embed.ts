import type { Gateway } from '../http/gateway.ts';
import { findWarnings } from '../providers/price-values.ts';
import { readSettings, secretsIn } from '../settings/settings.ts';
import { createLogger, Secrets } from '../telemetry/logger.ts';
import { openGateway } from './open-gateway.ts';

export interface EmbedOptions {
  /** Public address at which the application is mounted, for example `https://api.example.com/ai`. */
  url: string;
  /** The variables that `npm start` reads: `DATA_DIR`, `CONFIG`, `DATABASE_URL` and others. Default: `process.env`. */
  environment?: NodeJS.ProcessEnv;
}

export interface EmbeddedGateway extends Gateway {
  /** A key that this start created because there was none. */
  readonly newKey: string | undefined;
  /** Resolves with the reason when the store has failed and the process must end. */
  readonly failed: Promise<Error>;
  /** Stops the gateway. Close the server first, and await `drain` of the attached sockets. */
  close(): Promise<void>;
}

/**
 * Starts a gateway without a server of its own. Pass it to `createApp` and `attachSockets`.
 *
 * @throws SettingsError when a variable or the configuration file is invalid
 */
export async function startGateway({
  url,
  environment = process.env,
}: EmbedOptions): Promise<EmbeddedGateway> {
  const secrets = new Secrets();
  const settings = readSettings({ ...environment, PUBLIC_URL: url }, findWarnings);
  secrets.add(secretsIn(settings));
  const opened = await openGateway(settings, createLogger(settings.logLevel, secrets));
  await opened.listensAt(url);
  const { gateway, newKey, failed } = opened;
  return Object.assign(gateway, {
    newKey,
    failed,
    close: () => opened.close(0, async () => {}),
  });
}
