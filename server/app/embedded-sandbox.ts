import { join } from 'node:path';
import type { Sandbox } from '@unigate/sandbox';
import type { Settings } from '../settings/settings.ts';
import { SettingsError } from '../settings/settings-error.ts';
import { generateKey } from '../store/keys.ts';
import type { Logger } from '../telemetry/logger.ts';

/** SQLite's SQLITE_BUSY: another process has the database open. */
const sqliteBusy = 5;
/** SQLite's codes for a database that is read-only, and for one that cannot be opened. */
const sqliteDenied = new Set([8, 14]);

/** Starts the sandbox if it is configured. It is loaded only then, because it may not be installed. */
export async function startEmbeddedSandbox(settings: Settings, logger: Logger): Promise<Sandbox | undefined> {
  if (!settings.sandbox) return undefined;
  const { dataDir, callbacks, sandboxDraft, sandboxTaskMs, sandboxSongSeconds } = settings;
  const folder = join(dataDir, 'sandbox');
  try {
    const { startSandbox } = await import('@unigate/sandbox');
    return await startSandbox({
      folder,
      key: generateKey(),
      logger,
      allowPrivateUrls: callbacks.allowPrivate,
      draft: sandboxDraft,
      ...(sandboxTaskMs === undefined ? {} : { taskDurationMs: sandboxTaskMs }),
      ...(sandboxSongSeconds === undefined ? {} : { songSeconds: sandboxSongSeconds }),
    });
  } catch (cause) {
    const { code, errcode, syscall, message } = cause as NodeJS.ErrnoException & { errcode?: number };
    if (errcode === sqliteBusy)
      throw new SettingsError(`DATA_DIR: ${folder} is in use by another gateway.`, { cause });
    // The low byte of an extended code is its class.
    if (errcode !== undefined && sqliteDenied.has(errcode & 0xff))
      throw new SettingsError(
        `DATA_DIR: user ${process.geteuid?.()} cannot write the database in ${folder}: ${message}.`,
        { cause },
      );
    if (syscall === 'mkdir') throw new SettingsError(`DATA_DIR cannot be created: ${message}.`, { cause });
    if (code !== 'ERR_MODULE_NOT_FOUND') throw cause;
    throw new SettingsError(
      'the sandbox is not installed: run "npm ci" with its workspace, or configure channels and no sandbox in CONFIG',
      { cause },
    );
  }
}
