import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import { catalogueSource, readModels } from './catalogue.ts';
import { decisionsPage } from './decisions.ts';
import { dialogues } from './dialogues.ts';
import { docsSite } from './docs/site.ts';
import { downConvert } from './down-convert.ts';
import { errorsPage, errorsSource, readErrors } from './errors.ts';
import { eventTypesSource } from './event-types.ts';
import { eventValidatorsSource } from './event-validators.ts';
import { eventsOf } from './events.ts';
import { httpTypesSource } from './http-types.ts';
import { operationsSource } from './operations.ts';
import { bundle, lint } from './redocly.ts';
import { withoutAliases } from './without-aliases.ts';

/**
 * Every file of generated/, name -> text, made from the specs below `root` (openapi/, asyncapi/, redocly.yaml).
 * Throws when the specs do not pass lint or cannot be turned into one of the files.
 */
export async function outputs(root: string): Promise<Map<string, string>> {
  const modelsFile = readFile(join(root, 'openapi/models.yaml'), 'utf8').then(readModels);
  const errorsFile = readFile(join(root, 'openapi/errors.yaml'), 'utf8').then(readErrors);
  await complaints([lint(root, 'gateway'), lint(root, 'events'), modelsFile, errorsFile]);
  const [models, errors, openapi, asyncapi, areas] = await Promise.all([
    modelsFile,
    errorsFile,
    bundle(root, 'gateway'),
    bundle(root, 'events'),
    componentAreas(root),
  ]);
  const forClients = withoutAliases(openapi);
  const events = eventsOf(asyncapi);
  const validators = eventValidatorsSource(events);
  const decisions = decisionsPage(openapi, asyncapi, (component) => areas.get(component));
  const docs = await docsSite(root, { openapi, errors, decisions });
  return new Map([
    ['openapi.json', json(openapi)],
    ['openapi-clients.json', json(forClients)],
    ['openapi-3.0.json', json(downConvert(forClients))],
    ['asyncapi.json', json(asyncapi)],
    ['dialogues.json', json(await dialogues(root))],
    ['http.ts', await httpTypesSource(openapi)],
    ['events.ts', await eventTypesSource(events)],
    ['event-validators.js', validators.js],
    ['event-validators.d.ts', validators.dts],
    ['operations.ts', operationsSource(openapi)],
    ['catalogue.ts', catalogueSource(models)],
    ['errors.ts', errorsSource(errors)],
    ['errors.md', errorsPage(errors)],
    ['decisions.md', decisions],
    ...[...docs].map(([name, text]) => [`docs/${name}`, text] as const),
  ]);
}

/** Throws with the messages of all that failed, so that one run shows everything there is to mend. */
async function complaints(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((result) => result.status === 'rejected');
  if (failed.length === 0) return;
  const messages = failed.map(({ reason }) => (reason instanceof Error ? reason.message : String(reason)));
  throw new Error([...new Set(messages)].join('\n'));
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Component name -> the folder its schema file is kept in. */
async function componentAreas(root: string): Promise<Map<string, string>> {
  const areas = new Map<string, string>();
  for (const folder of ['asyncapi/schemas', 'openapi/schemas']) {
    const files = await readdir(join(root, folder), { recursive: true }).catch(() => []);
    for (const file of files.filter((name) => name.endsWith('.yaml') && name.includes(sep))) {
      areas.set(basename(file, '.yaml'), basename(dirname(file)));
    }
  }
  return areas;
}
