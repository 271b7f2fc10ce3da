import type { Logger } from '../telemetry/logger.ts';
import { reloads } from '../telemetry/metrics.ts';
import { changesBetween, type SettingsChanges, withLiveSettings } from './changes.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

export interface LiveSettingsParts {
  /** Settings at the start. */
  started: Settings;
  /** Reads the settings again. */
  read: () => Settings;
  /** Applies new settings. It must not throw. */
  apply: (settings: Settings) => void;
  /** Records a reload by SIGHUP. */
  record: RecordReload;
  logger: Logger;
}

/** Logs each likely mistake in the configuration file. */
export function logWarnings(logger: Logger, warnings: Settings['warnings']): void {
  for (const warning of warnings) logger.warn(warning);
}

/** Records a reload before the settings take effect. If it fails, they do not. */
type RecordReload = (changes: SettingsChanges, next: Settings) => Promise<void>;

type ReloadResult = 'applied' | 'failed';

function countReload(result: ReloadResult, count: 0 | 1): void {
  reloads.add(count, { 'unigate.configuration.reload.result': result });
}

/** The current settings, which can be reloaded while the gateway runs. */
export class LiveSettings {
  readonly #parts: LiveSettingsParts;
  #current: Settings;
  #lastReload: Promise<unknown> = Promise.resolve();
  #hasReloadFailed = false;

  constructor(parts: LiveSettingsParts) {
    this.#parts = parts;
    this.#current = parts.started;
    // Without a first value, `increase` would not count the first reload.
    for (const result of ['applied', 'failed'] as const) countReload(result, 0);
  }

  /** Whether the last reload failed, so that the file differs from the active configuration. */
  get hasReloadFailed(): boolean {
    return this.#hasReloadFailed;
  }

  get current(): Settings {
    return this.#current;
  }

  /**
   * Reads the settings again and applies those that need no restart. Reloads run one after the other.
   *
   * @throws SettingsError when the settings are invalid, and errors of `record`; nothing has changed then
   */
  reload(record: RecordReload = this.#parts.record): Promise<SettingsChanges> {
    const reload = this.#lastReload.then(() => this.#reload(record));
    this.#lastReload = reload.then(
      () => this.#recordResult('applied'),
      () => this.#recordResult('failed'),
    );
    return reload;
  }

  /** Returns the changes of a reload without applying them. @throws SettingsError when the settings are invalid */
  async compare(): Promise<SettingsChanges> {
    return changesBetween(this.#current, this.#parts.read(), this.#parts.started);
  }

  async #reload(record: RecordReload): Promise<SettingsChanges> {
    const { started, apply, logger } = this.#parts;
    const read = this.#read();
    const changes = changesBetween(this.#current, read, started);
    try {
      await record(changes, read);
    } catch (error) {
      logger.error({ err: error }, 'the configuration was not applied: the reload could not be recorded');
      throw error;
    }
    this.#current = withLiveSettings(this.#current, read);
    apply(this.#current);
    const { needsRestart, warnings, ...applied } = changes;
    logger.info(applied, 'the configuration was reloaded');
    logWarnings(logger, warnings);
    if (needsRestart.length > 0)
      logger.warn({ needsRestart }, 'some changes take effect only after a restart');
    return changes;
  }

  #recordResult(result: ReloadResult): void {
    this.#hasReloadFailed = result === 'failed';
    countReload(result, 1);
  }

  #read(): Settings {
    try {
      return this.#parts.read();
    } catch (error) {
      const about = error instanceof SettingsError ? { problems: error.message.split('\n') } : { err: error };
      this.#parts.logger.error(about, 'the configuration could not be read and was not applied');
      throw error;
    }
  }
}
