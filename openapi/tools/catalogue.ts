import { Ajv } from 'ajv';
import schema from './models.schema.json' with { type: 'json' };
import { type Mistake, readYaml, schemaMistake, yamlProblems } from './problem.ts';
import { header, literal, propertyName, union } from './source-text.ts';

type Entry = Record<string, unknown>;

interface FamilyEntry extends Entry {
  owner: string;
  since: string;
  voice_set?: string;
  default_resolution?: string;
  max_characters?: number;
  max_tokens?: number;
}

/** A model of openapi/models.yaml. */
export interface ModelEntry extends Entry {
  id: string;
  family: string;
  protocols: string[];
  unit: string;
  reported?: string;
  voices?: string;
  instruct?: boolean;
  since?: string;
}

interface VoiceEntry extends Entry {
  id: string;
  gender: string;
  languages: string[];
  description: string;
}

/** Content of openapi/models.yaml. */
export interface ModelsFile {
  families: Record<string, FamilyEntry>;
  models: ModelEntry[];
  voice_sets: Record<string, VoiceEntry[]>;
}

const { protocols, unit, voices } = schema.properties.models.items.properties;

const isModelsFile = new Ajv({ allErrors: true }).compile<ModelsFile>(schema);

/** Parses models.yaml. Throws SpecProblems with all mistakes. */
export function readModels(text: string): ModelsFile {
  const name = 'openapi/models.yaml';
  const file = readYaml(name, text);
  if (!isModelsFile(file)) throw yamlProblems(name, text, (isModelsFile.errors ?? []).map(schemaMistake));
  const mistakes = brokenLinks(file);
  if (mistakes.length > 0) throw yamlProblems(name, text, mistakes);
  return file;
}

const videoProtocols: readonly string[] = ['native_video', 'official', 'eta'];

function brokenLinks(file: ModelsFile): Mistake[] {
  const mistakes: Mistake[] = [];
  const seen = new Set<string>();
  for (const [index, model] of file.models.entries()) {
    const wrong = (message: string) => void mistakes.push({ path: ['models', index], message });
    if (seen.has(model.id)) wrong(`model ${model.id} is listed twice`);
    seen.add(model.id);
    const family = file.families[model.family];
    if (model.protocols.includes('realtime') !== (model.reported !== undefined))
      wrong(`model ${model.id}: reported is required for realtime models and not allowed for others`);
    if (!family) wrong(`model ${model.id} has the unknown family ${model.family}`);
    else if (model.voices && !family.voice_set) wrong(`family ${model.family} has no voice_set`);
    else if (model.protocols.some((one) => videoProtocols.includes(one)) && !family.default_resolution)
      wrong(`family ${model.family} has no default_resolution`);
  }
  for (const [name, family] of Object.entries(file.families)) {
    if (family.voice_set && !file.voice_sets[family.voice_set]) {
      const message = `family ${name} has the unknown voice set ${family.voice_set}`;
      mistakes.push({ path: ['families', name], message });
    }
  }
  return mistakes;
}

/** Renders generated/catalogue.ts. Keys become lowerCamelCase. */
export function catalogueSource(file: ModelsFile): string {
  return `${header}
export type ModelId = ${union(file.models.map((model) => model.id))};

/** The models of each upstream protocol. */
export interface ProtocolModels {
${protocolModels(file.models)}}

export type FamilyId = ${union(Object.keys(file.families))};

export type VoiceSetId = ${union(Object.keys(file.voice_sets))};

/** Upstream protocols of models. */
export type Protocol = ${union(protocols.items.enum)};

/** Unit of usage. \`seconds\` are seconds of output video. */
export type Unit = ${union(unit.enum)};

/** Kinds of voices that a model supports. */
export type VoiceKind = ${union(voices.enum)};

export interface Family {
  readonly owner: string;
  /** Date on which the models were added to the catalog, for example \`2026-11-21\`. */
  readonly since: string;
  readonly voiceSet?: VoiceSetId;
  /** Resolution of a video whose request names none. */
  readonly defaultResolution?: string;
  /** Maximum length of the text of one request, in characters. */
  readonly maxCharacters?: number;
  /** Maximum length of the text of one request, in tokens. */
  readonly maxTokens?: number;
}

export interface CatalogueModel {
  readonly id: ModelId;
  readonly family: FamilyId;
  readonly protocols: readonly Protocol[];
  readonly unit: Unit;
  /** Realtime models only: usage is cumulative for the session, or reported per response. */
  readonly reported?: 'session' | 'response';
  /** Absent if the model does not synthesize speech. */
  readonly voices?: VoiceKind;
  /** True if the model supports \`instructions\`. */
  readonly instruct?: boolean;
  /** Present if it differs from that of the family. */
  readonly since?: string;
}

export interface Voice {
  readonly id: string;
  readonly name: string;
  readonly gender: 'female' | 'male';
  /** Language codes, best supported first. */
  readonly languages: readonly string[];
  readonly description: string;
}

export const families: Readonly<Record<FamilyId, Family>> = ${literal(camelKeys(file.families))};

export const models: readonly CatalogueModel[] = ${literal(file.models)};

export const voiceSets: Readonly<Record<VoiceSetId, readonly Voice[]>> = ${literal(file.voice_sets)};
`;
}

function protocolModels(models: ModelsFile['models']): string {
  const names: readonly string[] = protocols.items.enum;
  const idsOf = (protocol: string) =>
    models.filter((model) => model.protocols.includes(protocol)).map((model) => model.id);
  return names.map((protocol) => `  ${propertyName(protocol)}: ${union(idsOf(protocol))};\n`).join('');
}

const camel = (key: string) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

// Renames only the properties, because family names are data.
const camelKeys = (families: Record<string, Entry>) =>
  Object.fromEntries(
    Object.entries(families).map(([name, traits]) => [
      name,
      Object.fromEntries(Object.entries(traits).map(([key, value]) => [camel(key), value])),
    ]),
  );
