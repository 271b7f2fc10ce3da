/** An invalid environment variable or configuration file. The message is for the operator. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
