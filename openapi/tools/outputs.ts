import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, sep } from 'node:path';
import settingsSchema from '../../server/settings/settings.schema.json' with { type: 'json' };
import { alertRules } from '../../server/telemetry/monitoring/alerts.ts';
import { dashboard } from '../../server/telemetry/monitoring/dashboard.ts';
import { catalogueSource, type ModelsFile, readModels } from './catalogue.ts';
import { decisionsPage } from './decisions.ts';
import { dialogues } from './dialogues.ts';
import type { JsonObject } from './document.ts';
import { downConvert } from './down-convert.ts';
import { type ErrorEntry, errorsPage, errorsSource, readErrors } from './errors.ts';
import { eventTypesSource, schemaTypesSource } from './event-types.ts';
import { eventValidatorsSource } from './event-validators.ts';
import { eventsOf } from './events.ts';
import { forClients, withoutUnusedSchemas } from './for-clients.ts';
import { httpTypesSource } from './http-types.ts';
import { operationsSource } from './operations.ts';
import { type Problem, SpecProblems } from './problem.ts';
import { settingsValidatorSource } from './settings-validator.ts';
import { openSpecs, type Specs } from './specs.ts';
import { missingChannels } from './stream-channels.ts';

/** The parsed sources of the contract. */
export interface Sources {
  openapi: JsonObject;
  asyncapi: JsonObject;
  errors: readonly ErrorEntry[];
  models: ModelsFile;
}

/** Every file of generated/, name -> text. */
export type Outputs = Map<string, string>;

/**
 * Builds all files of generated/ from the specs below `root` (openapi/, asyncapi/, redocly.yaml). Throws SpecProblems if
 * the specs fail lint or cannot be read, and Error if a file cannot be built.
 */
export async function outputs(root: string): Promise<Outputs> {
  return createMaker(root)(await readSources(root, await openSpecs(root)));
}

/** Lints and reads the contract. Throws one SpecProblems with all problems. */
export async function readSources(root: string, specs: Specs): Promise<Sources> {
  const file = (name: string) => readFile(join(root, 'openapi', name), 'utf8');
  const reading = {
    models: file('models.yaml').then(readModels),
    errors: file('errors.yaml').then(readErrors),
  };
  await throwProblems([linted(specs, 'gateway'), linted(specs, 'events'), reading.models, reading.errors]);
  const asyncapi = await specs.bundle('events');
  const missing = missingChannels(root, asyncapi);
  if (missing.length > 0) throw new SpecProblems(missing);
  return {
    openapi: await specs.bundle('gateway'),
    asyncapi,
    errors: await reading.errors,
    models: await reading.models,
  };
}

/** Returns a function that builds the files. It rebuilds only the files of a changed document. */
export function createMaker(root: string): (sources: Sources) => Promise<Outputs> {
  const ofOpenapi = cached(async (openapi: JsonObject) => {
    const clients = forClients(openapi);
    return new Map([
      ['openapi.json', json(openapi)],
      ['openapi-clients.json', json(clients)],
      ['openapi-3.0.json', json(withoutUnusedSchemas(downConvert(clients)))],
      ['http.ts', await httpTypesSource(openapi)],
      ['operations.ts', operationsSource(openapi)],
    ]);
  });
  const ofAsyncapi = cached(async (asyncapi: JsonObject) => {
    const events = eventsOf(asyncapi);
    const validators = eventValidatorsSource(events);
    return new Map([
      ['asyncapi.json', json(asyncapi)],
      ['events.ts', await eventTypesSource(events)],
      ['event-validators.js', validators.js],
      ['event-validators.d.ts', validators.dts],
    ]);
  });
  const settingsTypes = settingsTypesSource();
  const settingsValidator = settingsValidatorSource();
  return async ({ openapi, asyncapi, errors, models }) => {
    const areas = await componentAreas(root);
    const decisions = decisionsPage(openapi, asyncapi, (component) => areas.get(component));
    return new Map([
      ...(await ofOpenapi(openapi)),
      ...(await ofAsyncapi(asyncapi)),
      ['dialogues.json', json(await dialogues(root))],
      ['catalogue.ts', catalogueSource(models)],
      ['errors.ts', errorsSource(errors)],
      ['errors.md', errorsPage(errors)],
      ['decisions.md', decisions],
      ['settings.ts', await settingsTypes],
      ['settings-validator.js', settingsValidator.js],
      ['settings-validator.d.ts', settingsValidator.dts],
      ['monitoring/alerts.yaml', alertRules()],
      ['monitoring/dashboard.json', json(dashboard())],
    ]);
  };
}

/** Caches the result until the document changes. */
function cached<Made>(make: (document: JsonObject) => Promise<Made>) {
  let known: { text: string; made: Made } | undefined;
  return async (document: JsonObject): Promise<Made> => {
    const text = JSON.stringify(document);
    if (known?.text !== text) known = { text, made: await make(document) };
    return known.made;
  };
}

async function linted(specs: Specs, api: 'gateway' | 'events'): Promise<void> {
  const problems = await specs.lint(api);
  if (problems.length > 0) throw new SpecProblems(problems);
}

/** Throws SpecProblems with the distinct problems of all rejected promises. */
async function throwProblems(work: readonly Promise<unknown>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).filter((result) => result.status === 'rejected');
  const problems: Problem[] = failed.flatMap(({ reason }): readonly Problem[] => {
    if (reason instanceof SpecProblems) return reason.problems;
    throw reason;
  });
  const distinct = new Map(problems.map((problem) => [JSON.stringify(problem), problem]));
  if (distinct.size > 0) throw new SpecProblems([...distinct.values()]);
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** Component name -> folder of its schema file. */
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

/** Renders generated/settings.ts: a type for the configuration file and for each of its `$defs`. */
function settingsTypesSource(): Promise<string> {
  const source = JSON.stringify(settingsSchema).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $defs: parts, ...file } = JSON.parse(source) as typeof settingsSchema;
  return schemaTypesSource({ ConfigurationFile: file, ...parts });
}
