import type { ModelEntry } from '../catalogue.ts';
import { deref, isObject, type Json, type JsonObject, objects, strings, text } from '../document.ts';
import { kindOf } from './model-kinds.ts';

/** The documents that describe the options of models. */
export interface ContractDocuments {
  openapi: JsonObject;
  asyncapi: JsonObject;
}

/** An option of a request, with values in Markdown. */
interface ModelOption {
  name: string;
  values: string;
  default: string;
  description: string;
}

interface OptionsTable {
  title: string;
  options: ModelOption[];
}

interface SchemaSource {
  title: string;
  schema: string;
  /** The options to list. Default: all. */
  only?: readonly string[];
  /** Options that the family does not support. */
  without?: readonly string[];
  asyncapi?: boolean;
  /** A schema that narrows the options of some models. */
  narrowedBy?: string;
}

const instructOptions = ['instructions', 'optimize_instructions'];
const alphaOptions = ['language_type', ...instructOptions];
const alpha3SessionOptions = ['speech_rate', 'volume', 'pitch_rate', 'bit_rate'];

/** Returns the schemas with the options of a model. */
function sourcesOf(model: ModelEntry): SchemaSource[] {
  const { id, family, protocols, instruct } = model;
  const withoutInstruct = instruct ? [] : instructOptions;
  switch (kindOf(model)) {
    case 'speech':
      if (family === 'beta')
        return [
          { title: 'Voice options (`voice_setting`)', schema: 'BetaVoiceSetting' },
          { title: 'Audio options (`audio_setting`)', schema: 'BetaAudioSetting' },
        ];
      return protocols.includes('multimodal')
        ? [
            {
              title: 'Options',
              schema: 'MultimodalSpeechInput',
              only: alphaOptions,
              without: withoutInstruct,
            },
          ]
        : [{ title: 'Options', schema: 'SynthesisOptions' }];
    case 'realtime': {
      const without = family === 'alpha-legacy' ? alpha3SessionOptions : [];
      return [
        {
          title: 'Session options',
          schema: 'RealtimeSessionFields',
          without: [...withoutInstruct, ...without],
          asyncapi: true,
        },
      ];
    }
    case 'voices':
      return [{ title: 'Options (`input`)', schema: voiceInputs[id] ?? 'CreateVoiceInput' }];
    case 'video':
      return videoSources[family] ?? [];
    case 'model3d':
      return [
        { title: 'Input (`input`)', schema: 'Model3dInput' },
        { title: 'Options (`parameters`)', schema: 'Model3dParameters' },
      ];
    case 'music':
      return [{ title: 'Options', schema: 'MusicInput' }];
    case 'lyrics':
      return [{ title: 'Options', schema: 'SubmitLyricsRequest' }];
    case 'images':
      return [{ title: 'Options', schema: 'ImagineRequest' }];
    case 'embeddings':
      return [{ title: 'Options', schema: 'EmbeddingRequest', without: ['model'] }];
    default:
      return [];
  }
}

const voiceInputs: Readonly<Record<string, string>> = {
  'alpha-voice-enrollment': 'AlphaCloneVoiceInput',
  'alpha-voice-design': 'AlphaDesignVoiceInput',
};

const videoSources: Readonly<Record<string, SchemaSource[]>> = {
  gamma: [{ title: 'Native options (`parameters`)', schema: 'GammaParameters' }],
  seedance: [
    {
      title: 'Options (`metadata` of a generic request)',
      schema: 'OfficialOptions',
      narrowedBy: 'OfficialTaskRequest',
    },
  ],
  eta: [{ title: 'Options', schema: 'EtaVideoFields', narrowedBy: 'CreateVideoRequest' }],
};

/** Returns the tables of a model's options, from the schemas of the contract. */
export function optionsOf(documents: ContractDocuments, model: ModelEntry): OptionsTable[] {
  return sourcesOf(model).map(({ title, schema, only, without = [], asyncapi = false, narrowedBy }) => {
    const document = asyncapi ? documents.asyncapi : documents.openapi;
    const narrower = narrowedBy === undefined ? undefined : propertiesFor(document, narrowedBy, model.id);
    const options = objects(schemaNamed(document, schema).properties)
      .filter(([name]) => (only === undefined || only.includes(name)) && !without.includes(name))
      .map(([name, field]) => {
        const own = resolved(document, field);
        const narrow = Object.assign({}, own, ...(narrower?.get(name) ?? []));
        return optionOf(name, { ...narrow, description: own.description ?? '' });
      });
    return { title, options };
  });
}

/** Returns a schema of a document by its name. Throws if there is none. */
export function schemaNamed(document: JsonObject, name: string): JsonObject {
  return deref(document, { $ref: `#/components/schemas/${name}` });
}

/** Follows a `$ref`. A description beside it replaces that of the schema. */
function resolved(document: JsonObject, field: JsonObject): JsonObject {
  return {
    ...deref(document, field),
    ...(field.description !== undefined && { description: field.description }),
  };
}

function optionOf(name: string, field: JsonObject): ModelOption {
  return {
    name,
    values: valuesOf(field),
    default: field.default === undefined ? '' : `\`${valueWords(field.default)}\``,
    description: text(field.description),
  };
}

/** Describes the values of a field in Markdown. */
function valuesOf(field: JsonObject): string {
  const { type, minimum, exclusiveMinimum, maximum, maxItems, maxLength } = field;
  const choices = Array.isArray(field.enum) ? field.enum.filter((value) => value !== null) : [];
  if (choices.length > 0)
    return distinctWords(choices.map(String))
      .map((value) => `\`${value}\``)
      .join(', ');
  if (field.const !== undefined) return `\`${valueWords(field.const)}\``;
  const types = typeof type === 'string' ? [type] : strings(type).filter((one) => one !== 'null');
  const word = types.map((one) => typeWords[one] ?? one).join(' or ');
  if (typeof exclusiveMinimum === 'number')
    return `${word} above ${exclusiveMinimum}, up to ${valueWords(maximum)}`;
  if (typeof minimum === 'number' && typeof maximum === 'number')
    return `${word} from ${numberWords(minimum)} to ${numberWords(maximum)}`;
  if (typeof minimum === 'number') return `${word} from ${numberWords(minimum)}`;
  if (typeof maxLength === 'number') return `${word} up to ${numberWords(maxLength)} characters`;
  return typeof maxItems === 'number' ? `${word} of up to ${maxItems}` : word;
}

/** Omits words that differ from an earlier one only in case. */
export const distinctWords = (words: readonly string[]) =>
  words.filter((word, at) => words.findIndex((one) => one.toLowerCase() === word.toLowerCase()) === at);

const typeWords: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: '`true` or `false`',
  array: 'list',
};

/** Renders a value without quotes. */
export const valueWords = (value: Json | undefined) => JSON.stringify(value ?? null).replaceAll('"', '');

export const numberWords = (value: number) => value.toLocaleString('en-US');

/**
 * Returns the parts of a schema that apply to a model id: its properties, and those of every `then` whose `if` names only
 * the model. Later parts are narrower.
 */
export function propertiesFor(document: JsonObject, schema: string, id: string): Map<string, JsonObject[]> {
  const found = new Map<string, JsonObject[]>();
  const add = (node: JsonObject): void => {
    for (const [name, field] of objects(node.properties))
      found.set(name, [...(found.get(name) ?? []), deref(document, field)]);
    for (const part of Array.isArray(node.allOf) ? node.allOf : []) add(deref(document, part));
    const applies = isObject(node.if) ? matchesModel(node.if, id) : undefined;
    const branch = applies === undefined ? undefined : applies ? node.then : node.else;
    if (isObject(branch)) add(deref(document, branch));
  };
  add(schemaNamed(document, schema));
  return found;
}

/** Whether a model meets a condition. Undefined if the condition depends on other fields, too. */
function matchesModel(condition: JsonObject, id: string): boolean | undefined {
  const [field, ...others] = objects(condition.properties);
  if (others.length > 0 || field?.[0] !== 'model' || condition.anyOf !== undefined) return undefined;
  const { pattern } = field[1];
  return typeof pattern === 'string' ? new RegExp(pattern).test(id) : undefined;
}
