import { Ajv } from 'ajv';
import settingsSchema from '../../server/settings/settings.schema.json' with { type: 'json' };
import type { JsonObject } from './document.ts';
import { header } from './source-text.ts';
import { schemaForAjv, standaloneSource } from './standalone-validators.ts';

/** Renders generated/settings-validator.js. To compile the schema at each start of a gateway would take 0.15 s. */
export function settingsValidatorSource(): { js: string; dts: string } {
  const ajv = new Ajv({
    code: { source: true, esm: true, lines: true },
    inlineRefs: false,
    allowUnionTypes: true,
    allErrors: true,
  });
  const schema = JSON.parse(JSON.stringify(settingsSchema)) as JsonObject;
  ajv.addSchema({ $id: 'settings', ...schemaForAjv(schema) });
  const code = standaloneSource(ajv, { validateConfigurationFile: 'settings' });
  return { js: [header, code].join('\n'), dts };
}

const dts = `${header}
import type { ErrorObject } from 'ajv';
import type { ConfigurationFile } from './settings.ts';

export interface ConfigurationValidator {
  (data: unknown): data is ConfigurationFile;
  /** Errors of the last value. Null if it was valid. */
  errors?: readonly ErrorObject[] | null;
}

export const validateConfigurationFile: ConfigurationValidator;
`;
