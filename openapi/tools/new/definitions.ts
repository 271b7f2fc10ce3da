import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject, type JsonObject, objects } from '../document.ts';
import { readYaml } from '../problem.ts';
import { CannotCreate } from './new-operation.ts';

/** Files to create and files to change, path -> new text. */
export interface Changes {
  created: Map<string, string>;
  changed: Map<string, string>;
  /** The next steps for the author. */
  next: string;
}

export interface DefinitionFlags {
  area?: string | undefined;
  channel?: string | undefined;
  action?: string | undefined;
  type?: string | undefined;
  status?: string | undefined;
  families?: string | undefined;
  retry?: string | undefined;
  family?: string | undefined;
}

/** Creates the changes for a definition. Throws CannotCreate. */
export type Definition = (root: string, name: string, flags: DefinitionFlags) => Changes;

const read = (root: string, file: string) => readFileSync(join(root, file), 'utf8');
const errorSchema = JSON.parse(read(import.meta.dirname, '../errors.schema.json')) as {
  items: { properties: { families: { items: { enum: string[] } }; retry: { enum: string[] } } };
};
const asyncapiFile = 'asyncapi/asyncapi.yaml';

/** Adds a schema file. */
const schema: Definition = (root, name, { area = '' }) => {
  requireName(name);
  const areas = readdirSync(join(root, 'openapi/schemas'));
  if (!areas.includes(area)) throw new CannotCreate(`--area "${area}" must be one of ${areas.join(', ')}`);
  const file = areas.find((one) => existsSync(join(root, 'openapi/schemas', one, `${name}.yaml`)));
  if (file !== undefined) throw new CannotCreate(`openapi/schemas/${file}/${name}.yaml already exists`);
  const text = `title: ${name}\ntype: object\ndescription: To be written.\nadditionalProperties: false\n`;
  return {
    created: new Map([[`openapi/schemas/${area}/${name}.yaml`, text]]),
    changed: new Map(),
    next: 'Refer to the schema from a path file or another schema: the lint rejects a file without a reference.',
  };
};

/** Adds an error code to the end of errors.yaml. */
const error: Definition = (root, code, { status, families = '', retry = 'never' }) => {
  const file = 'openapi/errors.yaml';
  const text = read(root, file);
  if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(code))
    throw new CannotCreate(`"${code}" must consist of letters, digits and underscores`);
  const known = readYaml(file, text);
  if (Array.isArray(known) && known.some((one) => isObject(one) && one.code === code))
    throw new CannotCreate(`error code ${code} already exists`);
  const { properties } = errorSchema.items;
  const wanted = families.split(',').filter((one) => one !== '');
  const allowed = properties.families.items.enum;
  if (wanted.length === 0 || wanted.some((one) => !allowed.includes(one)))
    throw new CannotCreate(
      `--families "${families}" must be one or several of ${allowed.join(', ')}, separated by commas`,
    );
  if (!properties.retry.enum.includes(retry))
    throw new CannotCreate(`--retry "${retry}" must be one of ${properties.retry.enum.join(', ')}`);
  if (status !== undefined && !/^[45]\d\d$/.test(status))
    throw new CannotCreate(`--status "${status}" must be between 400 and 599`);
  const lines = [
    `- code: ${code}`,
    ...(status === undefined ? [] : [`  status: ${status}`]),
    `  families: [${wanted.join(', ')}]`,
    '  when: To be written.',
    '  remedy: To be written.',
    `  retry: ${retry}`,
  ];
  return {
    created: new Map(),
    changed: new Map([[file, `${text.trimEnd()}\n${lines.join('\n')}\n`]]),
    next: 'Write when and remedy, throw the error with new Failure, and add a test that causes it.',
  };
};

/** Adds a model after the last one of its family, with the properties of that one. */
const model: Definition = (root, id, { family = '' }) => {
  const file = 'openapi/models.yaml';
  const text = read(root, file);
  const catalog = readYaml(file, text);
  const { families, models } = isObject(catalog) ? catalog : {};
  const names = objects(families).map(([name]) => name);
  if (!names.includes(family))
    throw new CannotCreate(`--family "${family}" must be one of ${names.join(', ')}`);
  if (!/^[a-z0-9][a-z0-9._/-]*$/.test(id))
    throw new CannotCreate(
      `"${id}" must consist of lower-case letters, digits, dots, hyphens, underscores and slashes`,
    );
  if (Array.isArray(models) && models.some((one) => isObject(one) && one.id === id))
    throw new CannotCreate(`model ${id} already exists`);
  const lines = text.split('\n');
  const at = lines.findLastIndex((line) => line.includes(`, family: ${family},`));
  const last = lines[at];
  if (last === undefined) throw new CannotCreate(`family ${family} has no model that could be copied`);
  const added = last.replace(/id: [^,]+,/, `id: ${id},`);
  return {
    created: new Map(),
    changed: new Map([[file, lines.toSpliced(at + 1, 0, added).join('\n')]]),
    next: 'Check protocols, unit and voices, which are those of the previous model of the family.',
  };
};

/** Adds an event to a socket channel: its message, schema and example. */
const event: Definition = (root, name, { channel = '', action = 'send', type = '' }) => {
  requireName(name);
  const lines = read(root, asyncapiFile).split('\n');
  const document = readYaml(asyncapiFile, lines.join('\n'));
  const { channels, operations, components } = isObject(document) ? document : {};
  const messages = objects(isObject(components) ? components.messages : undefined);
  if (messages.some(([one]) => one === name)) throw new CannotCreate(`message ${name} already exists`);
  // A channel with the messages of another one has no list of its own.
  const own = objects(channels).filter(([one]) => blockOf(lines, `  ${one}:`).some(isMessageLine));
  const sockets = own.filter(([one]) =>
    objects(operations).some(([, operation]) => lists(operation) && refersTo(operation, one)),
  );
  const names = sockets.map(([one]) => one);
  if (!names.includes(channel))
    throw new CannotCreate(`--channel "${channel}" must be one of ${names.join(', ')}`);
  if (action !== 'send' && action !== 'receive')
    throw new CannotCreate(
      `--action "${action}" must be send, for a server event, or receive, for a client event`,
    );
  if (!/^[a-z][a-z0-9_]*([.-][a-z0-9_]+)+$/.test(type))
    throw new CannotCreate(`--type "${type}" must have the form session.paused`);
  const shared = objects(channels).filter(([one]) => sharesMessages(lines, one, channel));
  const [previous] = messages
    .filter(([one]) => lines.includes(channelMessage(one)) && inChannel(lines, channel, one))
    .slice(-1);
  const folder =
    /schemas\/([^/]+)\//.exec(blockOf(lines, `    ${previous?.[0]}:`).join('\n'))?.[1] ?? channel;
  insertInto(lines, `  ${channel}:`, isMessageLine, [channelMessage(name)]);
  for (const [one] of shared) {
    const operation = objects(operations).find(
      ([, node]) => node.action === action && lists(node) && refersTo(node, one),
    );
    if (operation === undefined)
      throw new CannotCreate(`channel ${one} has no operation with the action ${action}`);
    insertInto(lines, `  ${operation[0]}:`, (line) => line.startsWith('      - $ref:'), [
      `      - $ref: '#/channels/${one}/messages/${name}'`,
    ]);
  }
  insertInto(lines, `    ${previous?.[0]}:`, (line) => line.trim() !== '', [
    `    ${name}:`,
    `      name: ${type}`,
    `      title: ${type}`,
    '      summary: To be written.',
    '      description: To be written.',
    `      payload: { $ref: schemas/${folder}/${name}.yaml }`,
    `      examples: { $ref: messages/${name}.yaml }`,
  ]);
  const id = action === 'send' ? 'ServerEventId' : 'ClientEventId';
  const hasId = existsSync(join(root, `asyncapi/schemas/${folder}/${id}.yaml`));
  const payload = [
    'type: object',
    `title: ${name}`,
    'description: To be written.',
    `required: [${hasId ? 'event_id, ' : ''}type]`,
    'properties:',
    ...(hasId ? [`  event_id: { $ref: ${id}.yaml }`] : []),
    `  type: { type: string, const: ${type}, description: Always \`${type}\`. }`,
    '',
  ];
  const example = [
    '- name: unwritten',
    '  summary: To be written.',
    `  payload: { ${hasId ? 'event_id: event_1, ' : ''}type: ${type} }`,
    '',
  ];
  return {
    created: new Map([
      [`asyncapi/schemas/${folder}/${name}.yaml`, payload.join('\n')],
      [`asyncapi/messages/${name}.yaml`, example.join('\n')],
    ]),
    changed: new Map([[asyncapiFile, lines.join('\n')]]),
    next: 'Write its texts, fields and example, handle it in server/sockets, and add it to a dialogue in asyncapi/examples.',
  };
};

export const definitions: Readonly<Record<string, Definition>> = { schema, event, error, model };

function requireName(name: string): void {
  if (!/^[A-Z][A-Za-z0-9]*$/.test(name))
    throw new CannotCreate(`"${name}" must be in UpperCamelCase, such as SongDraft`);
}

const channelMessage = (name: string) => `      ${name}: { $ref: '#/components/messages/${name}' }`;
const isMessageLine = (line: string) => /^ {6}\w+: \{ \$ref: '#\/components\/messages\//.test(line);
const lists = (operation: JsonObject) => Array.isArray(operation.messages);
const refersTo = ({ channel }: JsonObject, name: string) =>
  isObject(channel) && channel.$ref === `#/channels/${name}`;
const inChannel = (lines: string[], channel: string, message: string) =>
  blockOf(lines, `  ${channel}:`).includes(channelMessage(message));

/** Whether a channel is the channel or an alias with its messages. */
function sharesMessages(lines: string[], one: string, channel: string): boolean {
  const anchor = blockOf(lines, `  ${channel}:`).flatMap(
    (line) => /messages: &(\w+)/.exec(line)?.[1] ?? [],
  )[0];
  return (
    one === channel ||
    (anchor !== undefined && blockOf(lines, `  ${one}:`).includes(`    messages: *${anchor}`))
  );
}

/** The lines below a key, down to the next key with its indentation or less. */
function blockOf(lines: string[], key: string): string[] {
  const [start, end] = rangeOf(lines, key);
  return lines.slice(start, end);
}

function rangeOf(lines: string[], key: string): [number, number] {
  const start = lines.indexOf(key) + 1;
  if (start === 0) return [0, 0];
  const indent = key.search(/\S/);
  const length = lines.slice(start).findIndex((line) => line.trim() !== '' && line.search(/\S/) <= indent);
  return [start, length < 0 ? lines.length : start + length];
}

/** Inserts lines after the last line of a block that fits. */
function insertInto(lines: string[], key: string, fits: (line: string) => boolean, added: string[]): void {
  const [start, end] = rangeOf(lines, key);
  const at = lines.slice(start, end).findLastIndex(fits);
  if (at < 0) throw new CannotCreate(`${asyncapiFile} has no list at ${key.trim()}`);
  lines.splice(start + at + 1, 0, ...added);
}
