import type { ModelEntry, ModelsFile } from '../catalogue.ts';
import { deref, type JsonObject, strings, text } from '../document.ts';
import { kindOf } from './model-kinds.ts';
import {
  type ContractDocuments,
  distinctWords,
  numberWords,
  propertiesFor,
  schemaNamed,
  valueWords,
} from './model-options.ts';

/** A limit or format of a model, in Markdown. */
export type LimitRow = readonly [name: string, value: string];

/** Returns the limits and formats of a model: those of the catalog and those of the contract. */
export function limitsOf(documents: ContractDocuments, file: ModelsFile, model: ModelEntry): LimitRow[] {
  const kind = kindOf(model);
  if (kind === 'speech') return speechLimits(documents, file, model);
  if (kind === 'realtime') return realtimeLimits(documents, model);
  return kind === 'video' ? videoLimits(documents, model) : [];
}

/** Returns further rules of a video model, as descriptions of the contract. */
export function rulesOf({ openapi }: ContractDocuments, { id, family }: ModelEntry): string[] {
  const rules =
    family === 'seedance' && id.includes('-2-5-') ? ['OfficialLimits25'] : (videoRules[family] ?? []);
  return rules.map((schema) => {
    const description = text(schemaNamed(openapi, schema).description).trim();
    return description.replace(/^Limits of \w+ models\. /, '');
  });
}

const videoRules: Readonly<Record<string, readonly string[]>> = {
  gamma: ['GammaVideoLimits', 'GammaShortcuts', 'GammaMediaList', 'GammaMedia'],
  eta: ['EtaVideoLimits'],
};

function speechLimits({ openapi }: ContractDocuments, file: ModelsFile, model: ModelEntry): LimitRow[] {
  const { family, protocols } = model;
  const { max_characters, max_tokens } = file.families[family] ?? {};
  const input = schemaNamed(openapi, 'SynthesizerInput');
  const fallback = propertyOf(openapi, input, 'text').maxLength;
  const length =
    typeof max_tokens === 'number'
      ? `${numberWords(max_tokens)} tokens`
      : `${numberWords(Number(max_characters ?? fallback))} characters`;
  const rows: LimitRow[] = [['Text of one request', `up to ${length}`]];
  if (family === 'beta')
    return [...rows, ...audioRows(openapi, schemaNamed(openapi, 'BetaAudioSetting'), 'format')];
  if (protocols.includes('multimodal')) {
    const request = schemaNamed(openapi, 'SpeechRequest');
    const formats = wordsOf(
      propertyOf(openapi, request, 'response_format'),
      /Alpha multimodal models: ([^.]+)\./,
    );
    const rate = wordsOf(deref(openapi, extraInput(openapi, request)), /synthesize at (\d+) Hz only/);
    return [...rows, ['Audio formats', formats], ['Sample rate', `${numberWords(Number(rate))} Hz`]];
  }
  return [...rows, ...audioRows(openapi, schemaNamed(openapi, 'SynthesisOptions'), 'format')];
}

function realtimeLimits({ asyncapi }: ContractDocuments, model: ModelEntry): LimitRow[] {
  const append = propertyOf(asyncapi, schemaNamed(asyncapi, 'InputTextBufferAppend'), 'text');
  const rows: LimitRow[] = [
    ['Text of one event', `up to ${numberWords(Number(append.maxLength))} characters`],
  ];
  const fields = schemaNamed(asyncapi, 'RealtimeSessionFields');
  if (model.family !== 'alpha-legacy') return [...rows, ...audioRows(asyncapi, fields, 'response_format')];
  const only = (name: string) => wordsOf(propertyOf(asyncapi, fields, name), /legacy models only (\w+)\./);
  return [
    ...rows,
    ['Audio formats', only('response_format')],
    ['Sample rate', `${numberWords(Number(only('sample_rate')))} Hz`],
  ];
}

function audioRows(document: JsonObject, schema: JsonObject, formatField: string): LimitRow[] {
  const formats = propertyOf(document, schema, formatField);
  const rates = propertyOf(document, schema, 'sample_rate');
  const hertz = (Array.isArray(rates.enum) ? rates.enum : []).map((rate) => numberWords(Number(rate)));
  return [
    ['Audio formats', `${strings(formats.enum).join(', ')} (default ${valueWords(formats.default)})`],
    ['Sample rates', `${hertz.join(', ')} Hz (default ${numberWords(Number(rates.default))} Hz)`],
  ];
}

function videoLimits({ openapi }: ContractDocuments, { id }: ModelEntry): LimitRow[] {
  const fields = propertiesFor(openapi, 'CreateVideoRequest', id);
  const last = (name: string, key: string) =>
    fields
      .get(name)
      ?.map((field) => field[key])
      .findLast((value) => value !== undefined);
  const choices = (name: string) => distinctWords(strings(last(name, 'enum')));
  // The first entry is the general range, which is no limit of a model.
  const limited = fields.get('seconds')?.slice(1) ?? [];
  const rows: LimitRow[] = [
    ['Duration', text(limited.at(-1)?.['x-form']).replace(/^must be (.*)$/, '$1 seconds')],
    ['Resolution', choices('resolution').join(', ')],
    ['Aspect ratio', choices('aspect_ratio').join(', ')],
  ];
  const content = propertiesFor(openapi, 'OfficialTaskRequest', id).get('content') ?? [];
  const references = content
    .map(({ description }) => text(description))
    .find((words) => words.startsWith('At most'));
  return [...rows, ['References', references ?? ''] as const].filter(([, value]) => value !== '');
}

function propertyOf(document: JsonObject, schema: JsonObject, name: string): JsonObject {
  return deref(document, deref(document, schema.properties)[name]);
}

function extraInput(document: JsonObject, request: JsonObject): JsonObject {
  return propertyOf(document, propertyOf(document, request, 'extra_body'), 'input');
}

/** Returns the part of a description that states a fact. Throws if the contract no longer states it. */
function wordsOf(field: JsonObject, pattern: RegExp): string {
  const found = pattern.exec(text(field.description))?.[1];
  if (found === undefined) throw new Error(`no description matches ${pattern}: ${text(field.description)}`);
  return found;
}
