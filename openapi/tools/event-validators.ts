import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { Events } from './events.ts';
import { header } from './source-text.ts';
import { schemasForAjv, standaloneSource } from './standalone-validators.ts';
import { findTag } from './tag.ts';

/** Renders generated/event-validators.js and its .d.ts. */
export function eventValidatorsSource(events: Events): { js: string; dts: string } {
  const ajv = new Ajv2020({
    code: { source: true, esm: true, lines: true },
    // Compiles a shared schema into one function instead of a copy per event.
    inlineRefs: false,
    strict: true,
    // Conditional branches of shared schemas have no type of their own.
    strictTypes: false,
    strictRequired: false,
  });
  formats.default(ajv);
  ajv.addSchema({ $id: 'events', $defs: schemasForAjv(events.schemas) });
  const validators = Object.fromEntries(
    events.messages.map((name) => [`validate${name}`, `events#/$defs/${name}`]),
  );
  const code = standaloneSource(ajv, validators);
  // A channel with a single server message needs no union.
  const sides = events.unions.filter(({ side, members }) => side === 'Client' || members.length > 1);
  const unions = sides.flatMap((union) => {
    const tag = findTag(events.schemas, union.members);
    if (!tag && union.side === 'Client')
      throw new Error(`${union.name}: no constant distinguishes its messages`);
    return tag ? [{ name: union.name, ...tag }] : [];
  });
  return {
    js: [header, code, dispatch, ...unions.map(unionValidator)].join('\n'),
    dts: declarations([...events.messages, ...unions.map(({ name }) => name)]),
  };
}

const dispatch = `
function byTag(path, read, validators) {
  const known = [...validators.keys()].join(', ');
  function validate(data) {
    const chosen = validators.get(read(data));
    if (chosen) {
      const valid = chosen(data);
      validate.errors = chosen.errors;
      return valid;
    }
    const message = \`must be one of: \${known}\`;
    validate.errors = [{ instancePath: path, schemaPath: '#/discriminator', keyword: 'discriminator', params: {}, message }];
    return false;
  }
  validate.errors = null;
  return validate;
}
`;

function unionValidator({
  name,
  path,
  values,
}: {
  name: string;
  path: string[];
  values: Map<string, string>;
}): string {
  const read = `(data) => data${path.map((key) => `?.[${JSON.stringify(key)}]`).join('')}`;
  const entries = [...values].map(
    ([value, message]) => `  [${JSON.stringify(value)}, validate${message}],\n`,
  );
  return `export const validate${name} = byTag('/${path.join('/')}', ${read}, new Map([\n${entries.join('')}]));\n`;
}

const declarations = (names: string[]) => `${header}
import type * as events from './events.ts';

export interface EventError {
  /** JSON pointer to the invalid field. */
  readonly instancePath: string;
  readonly schemaPath: string;
  readonly keyword: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
}

export interface EventValidator<Event> {
  (data: unknown): data is Event;
  /** Errors of the last value. Null if it was valid. */
  errors?: readonly EventError[] | null;
}

${names.map((name) => `export const validate${name}: EventValidator<events.${name}>;\n`).join('')}`;
