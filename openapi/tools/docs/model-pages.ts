import type { ModelEntry, ModelsFile } from '../catalogue.ts';
import { operationsOf } from '../document.ts';
import type { CallSample } from './call-text.ts';
import { callsOf, voicePlaceholder } from './model-calls.ts';
import { type KindFacts, kindOf, kinds, type ModelKind, operationsFor, voiceTargets } from './model-kinds.ts';
import { limitsOf, rulesOf } from './model-limits.ts';
import { type ContractDocuments, optionsOf } from './model-options.ts';

/** The parts of the contract that model pages are made from. */
export interface ModelSources extends ContractDocuments {
  models: ModelsFile;
}

/** Returns the path of a model's page below the documentation, for example `models/voxa-v3-5-plus`. */
export function modelPage(id: string): string {
  return `models/${id.replace(/[^A-Za-z0-9_-]+/g, '-')}`;
}

/** Renders a page for each model, and `models/index` with all models. Returns Markdown by page path. */
export function modelPages(sources: ModelSources): Map<string, string> {
  const { models } = sources.models;
  return new Map([
    ['models/index', indexOf(models)],
    ...models.map((model) => [modelPage(model.id), pageOf(sources, model)] as const),
  ]);
}

const units: Readonly<Record<string, string>> = {
  characters: 'characters of text, as the provider counts them',
  tokens: 'input and output tokens',
  actions: 'actions, one for each call or task',
  seconds: 'seconds of output video',
  tracks: 'tracks, one for each playable song',
};

function indexOf(models: readonly ModelEntry[]): string {
  const sections = (Object.keys(kinds) as ModelKind[]).map((kind) => {
    const rows = models
      .filter((model) => kindOf(model) === kind)
      .map((model) => [`[${model.id}](${modelPage(model.id)})`, model.family, model.unit, voiceWord(model)]);
    const speaks = kind === 'speech' || kind === 'realtime';
    const head = ['model', 'family', 'unit', ...(speaks ? ['voices'] : [])];
    return `## ${kinds[kind].title}\n\n${table(
      head,
      rows.map((cells) => cells.slice(0, head.length)),
    )}`;
  });
  return `${frontMatter('Models', 'All models of the catalog, with their units, limits and voices.')}# Models

All models of the catalog, by what they do. A channel of the operator decides whether a model is available.
\`GET /v1/models\` lists the models that your key can use.

${sections.join('\n')}`;
}

function pageOf(sources: ModelSources, model: ModelEntry): string {
  const { title, does, guide, consolePage }: KindFacts = kinds[kindOf(model)];
  const sentence = `${does}${voiceSentence(model)}`;
  const parts = [
    `# ${model.id}\n\n\`${model.id}\` ${sentence}. See the guide [${guide.title}](${guide.page})${tryIt(model, consolePage)}.`,
    factsTable(sources, model),
    `## Call the model\n\n${codeGroup(callsOf(model, firstVoice(sources.models, model)))}${placeholderNote(sources.models, model)}`,
    limitsSection(sources, model),
    voicesSection(sources.models, model),
    ...optionsSections(sources, model),
    priceSection(model),
    relatedSection(sources.models.models, model),
  ];
  const description = `${title}: ${model.id} ${sentence}. Limits, formats, price unit and the call in each language.`;
  return `${frontMatter(model.id, description)}${parts.filter((part) => part !== '').join('\n\n')}\n`;
}

function tryIt({ id }: ModelEntry, page: KindFacts['consolePage']): string {
  if (page === undefined) return '';
  const address = `/console#/${page.path}?model=${encodeURIComponent(id)}`;
  return `, or try the model on the page [${page.title}](${address}) of the console`;
}

function frontMatter(title: string, description: string): string {
  return `---\ntitle: ${JSON.stringify(title)}\ndescription: ${JSON.stringify(description)}\neditLink: false\nlastUpdated: false\n---\n\n`;
}

function voiceSentence({ voices, instruct }: ModelEntry): string {
  const voice = voices === undefined ? '' : `, with ${voices} voices`;
  return instruct ? `${voice} and in a style that you describe` : voice;
}

const voiceWord = ({ voices }: ModelEntry) => voices ?? '';

function factsTable({ models, openapi }: ModelSources, model: ModelEntry): string {
  const byId = new Map(operationsOf(openapi).map((operation) => [operation.id, operation]));
  const routes = operationsFor(model).map((id) => {
    const operation = byId.get(id);
    if (operation === undefined) throw new Error(`operation ${id} of ${model.id} does not exist`);
    return `[\`${operation.method.toUpperCase()} ${operation.path}\`](reference#operation/${id})`;
  });
  const family = models.families[model.family];
  return table(
    ['property', 'value'],
    [
      ['Routes', routes.join('<br>')],
      ['Family', model.family],
      ['Owner', family?.owner ?? ''],
      ['Unit', units[model.unit] ?? model.unit],
      ['In the catalog since', model.since ?? family?.since ?? ''],
    ],
  ).trim();
}

/** Renders the same call as tabs. */
function codeGroup(samples: readonly CallSample[]): string {
  const blocks = samples.map(({ label, language, code }) => `\`\`\`${language} [${label}]\n${code}\n\`\`\``);
  return `::: code-group\n\n${blocks.join('\n\n')}\n\n:::`;
}

const firstVoice = (file: ModelsFile, model: ModelEntry) => systemVoices(file, model)[0]?.id;

function systemVoices({ families, voice_sets }: ModelsFile, { family, voices }: ModelEntry) {
  return voices === 'system' ? (voice_sets[families[family]?.voice_set ?? ''] ?? []) : [];
}

function placeholderNote(file: ModelsFile, model: ModelEntry): string {
  if (model.voices === undefined || firstVoice(file, model) !== undefined) return '';
  return `\n\nReplace \`${voicePlaceholder}\` by a voice that was created for this model, see [Custom voices](text-to-speech#custom-voices).`;
}

function limitsSection(sources: ModelSources, model: ModelEntry): string {
  const rows = limitsOf(sources, sources.models, model);
  const rules = rulesOf(sources, model).map((rule) => cell(rule));
  if (rows.length === 0 && rules.length === 0) return '';
  const parts = [rows.length > 0 ? table(['limit', 'value'], rows).trim() : '', ...rules];
  return `## Limits and formats\n\n${parts.filter((part) => part !== '').join('\n\n')}`;
}

function voicesSection(file: ModelsFile, model: ModelEntry): string {
  if (model.voices === undefined) return '';
  if (model.voices !== 'system')
    return `## Voices\n\nThe model speaks only with ${model.voices} voices that were created for it. [Custom voices](text-to-speech#custom-voices) shows how to create one.`;
  const rows = systemVoices(file, model).map(({ id, gender, languages, description }) => [
    `\`${id}\``,
    gender,
    languages.join(', '),
    description,
    `<a href="../../console/#/speech?model=${encodeURIComponent(model.id)}&amp;voice=${encodeURIComponent(id)}" target="_self" aria-label="Listen to ${id}">▶ Listen</a>`,
  ]);
  return `## Voices

${table(['voice', 'gender', 'languages', 'sound', 'sample'], rows).trim()}

These are the voices of the sandbox, and of every channel that lists none of its own. \`GET /v1/models/${encodeURIComponent(model.id)}\`
lists the voices that your key can use.`;
}

function optionsSections(sources: ModelSources, model: ModelEntry): string[] {
  return optionsOf(sources, model).map(({ title, options }) => {
    const rows = options.map((one) => [`\`${one.name}\``, one.values, one.default, one.description]);
    return `## ${title}\n\n${table(['option', 'values', 'default', 'description'], rows).trim()}`;
  });
}

function priceSection({ unit }: ModelEntry): string {
  return `## Price

The model is metered in ${units[unit] ?? unit}. The operator sets the price of one unit, which
\`GET /v1/models/{model}\` returns as \`unit_price\`. A call costs the units times the price times the ratio of your group,
see [Billing](billing). The request log shows the units and the cost.`;
}

function relatedSection(models: readonly ModelEntry[], model: ModelEntry): string {
  const targets = voiceTargets(model, models);
  const related =
    targets.length > 0
      ? targets
      : models.filter(({ family, id }) => family === model.family && id !== model.id);
  if (related.length === 0) return '';
  const title = targets.length > 0 ? 'Models that use its voices' : 'Other models of the family';
  const links = related.map(({ id }) => `- [${id}](${modelPage(id)})`);
  return `## ${title}\n\n${links.join('\n')}`;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((one) => cell(one).replaceAll('\n', ' ').replaceAll('|', '\\|')).join(' | ')} |\n`;
  return line(head) + line(head.map(() => '---')) + rows.map(line).join('');
}

/** Escapes characters of a description that Markdown would read as HTML. The links and breaks of this file remain. */
const cell = (description: string) =>
  description.replace(/<(?!a |\/a>|br>)/g, '&lt;').replaceAll('{{', '&#123;&#123;');
