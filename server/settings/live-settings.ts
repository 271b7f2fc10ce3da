import type { Logger } from '../telemetry/logger.ts';
import { changesBetween, inForce, type SettingsChanges } from './changes.ts';
import type { Settings } from './settings.ts';
import { SettingsError } from './settings-error.ts';

export interface LiveSettingsParts {
  /** What the gateway was started with. */
  started: Settings;
  /** Reads them again. */
  read: () => Settings;
  /** Has new ones take effect. It must not fail. */
  apply: (settings: Settings) => void;
  /** Records a reload that SIGHUP set off. */
  note: NoteReload;
  logger: Logger;
}

/** Logs each likely mistake in the configuration file. */
export function logWarnings(logger: Logger, warnings: Settings['warnings']): void {
  for (const warning of warnings) logger.warn(warning);
}

/** Records a reload of valid settings before they take effect. They do not take effect when it fails. */
export type NoteReload = (changes: SettingsChanges, next: Settings) => Promise<void>;

/** The settings in force, and how changed ones come into force while the gateway runs. */
export class LiveSettings {
  readonly #parts: LiveSettingsParts;
  #current: Settings;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(parts: LiveSettingsParts) {
    this.#parts = parts;
    this.#current = parts.started;
  }

  get current(): Settings {
    return this.#current;
  }

  /**
   * Reads the settings again and applies what can be. One after the other, however many ask.
   *
   * @throws SettingsError when something is wrong with them, and what `note` throws; nothing has changed then
   */
  reload(note: NoteReload = this.#parts.note): Promise<SettingsChanges> {
    const turn = this.#turn.then(() => this.#reload(note));
    this.#turn = turn.catch(() => {});
    return turn;
  }

  /** What a reload would change. @throws SettingsError when something is wrong with the settings */
  async compare(): Promise<SettingsChanges> {
    return changesBetween(this.#current, this.#parts.read(), this.#parts.started);
  }

  async #reload(note: NoteReload): Promise<SettingsChanges> {
    const { started, apply, logger } = this.#parts;
    const read = this.#read();
    const changes = changesBetween(this.#current, read, started);
    try {
      await note(changes, read);
    } catch (error) {
      logger.error(
        { err: error },
        'the configuration was not applied, because the reload could not be recorded',
      );
      throw error;
    }
    this.#current = inForce(this.#current, read);
    apply(this.#current);
    const { needsRestart, warnings, ...applied } = changes;
    logger.info(applied, 'the configuration was reloaded');
    logWarnings(logger, warnings);
    if (needsRestart.length > 0)
      logger.warn({ needsRestart }, 'some settings take effect at the next start only');
    return changes;
  }

  #read(): Settings {
    try {
      return this.#parts.read();
    } catch (error) {
      const about = error instanceof SettingsError ? { problems: error.message.split('\n') } : { err: error };
      this.#parts.logger.error(about, 'the configuration could not be read, and all stays as it was');
      throw error;
    }
  }
}
