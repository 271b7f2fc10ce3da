import { dirname, join, relative, sep } from 'node:path';
import {
  BaseResolver,
  bundleDocument,
  type Config,
  type Document,
  detectSpec,
  getLineColLocation,
  getTypes,
  lintDocument,
  loadConfig,
  YamlParseError,
} from '@redocly/openapi-core';
import { nameConstants } from './constant-message.ts';
import type { JsonObject } from './document.ts';
import { type Problem, SpecProblems } from './problem.ts';

/** Names of the two documents in redocly.yaml. */
export const apis = ['gateway', 'events'] as const;
export type Api = (typeof apis)[number];

/** Both documents. Files and results are cached until `forget` is called. */
export interface Specs {
  /** Lints one document. Returns an empty list if it passes. */
  lint(api: Api): Promise<readonly Problem[]>;
  /** Bundles one document into one with local `$ref`s only. Throws SpecProblems if that fails. */
  bundle(api: Api): Promise<JsonObject>;
  /** Removes changed, created and deleted files from the cache. Paths are relative to the root. */
  forget(files: readonly string[]): void;
}

/** Opens the documents that redocly.yaml names in `root`. */
export async function openSpecs(root: string): Promise<Specs> {
  const config = await loadConfig({ configPath: join(root, 'redocly.yaml') });
  nameConstants();
  const specs = { gateway: openSpec(root, config, 'gateway'), events: openSpec(root, config, 'events') };
  return {
    lint: (api) => specs[api].lint(),
    bundle: (api) => specs[api].bundle(),
    forget(files) {
      for (const api of apis) specs[api].forget(files);
    },
  };
}

function openSpec(root: string, whole: Config, api: Api) {
  const config = whole.forAlias(api);
  const file = whole.resolvedConfig.apis?.[api]?.root ?? '';
  if (file === '') throw new Error(`redocly.yaml has no api ${api}.`);
  const resolver = new BaseResolver(whole.resolve);
  let problems: Promise<readonly Problem[]> | undefined;
  let bundled: Promise<JsonObject> | undefined;

  const documentFrom = async (from: BaseResolver): Promise<Document> => {
    try {
      const document = await from.resolveDocument(null, join(root, file), true);
      if (document instanceof Error) throw document;
      return document;
    } catch (error) {
      throw new SpecProblems([unreadable(error, root, file)]);
    }
  };

  const lint = async () => {
    const document = await documentFrom(resolver);
    const found = await lintDocument({ document, config, externalRefResolver: resolver });
    const problems = found.filter(({ ignored }) => !ignored).map((one) => problemOf(one, root));
    // An unreadable file causes further problems at its references.
    const unread = problems.filter(({ message }) => message.startsWith(cannotRead));
    return unread.length > 0 ? unread : problems;
  };

  const bundle = async () => {
    const own = await copied(resolver);
    const document = await documentFrom(own);
    const types = getTypes(detectSpec(document.parsed));
    const made = await bundleDocument({ document, config, externalRefResolver: own, types });
    if (made.problems.length > 0) throw new SpecProblems(made.problems.map((one) => problemOf(one, root)));
    // Copies objects that YAML anchors share.
    return JSON.parse(JSON.stringify(made.bundle.parsed)) as JsonObject;
  };

  const folder = join(dirname(file), '/');
  const isPart = (path: string) =>
    resolver.cache.has(join(root, path)) ||
    (path.startsWith(folder) && !excludedFolders.test(path)) ||
    path.startsWith('openapi/rules/');

  return {
    lint: () =>
      (problems ??= lint().catch((error: unknown) => {
        if (error instanceof SpecProblems) return error.problems;
        throw error;
      })),
    bundle: () => (bundled ??= bundle()),
    forget(paths: readonly string[]) {
      if (!paths.some(isPart)) return;
      problems = undefined;
      bundled = undefined;
      for (const path of paths) resolver.cache.delete(join(root, path));
    },
  };
}

/** Folders next to a document that are not part of it. */
const excludedFolders = /^openapi\/(guides|workflows|tools|dev)\//;

/** Copies the cached documents, because the bundler modifies its input. */
async function copied(resolver: BaseResolver): Promise<BaseResolver> {
  const copy = new BaseResolver();
  for (const [file, reading] of resolver.cache) {
    const document = await reading.catch(() => undefined);
    if (document === undefined || document instanceof Error) continue;
    copy.cache.set(file, Promise.resolve({ ...document, parsed: structuredClone(document.parsed) }));
  }
  return copy;
}

/** Start of the linter's message about an invalid YAML file. */
const cannotRead = 'Failed to parse: ';

type Found = Awaited<ReturnType<typeof lintDocument>>[number];

function problemOf({ location: [location], ruleId, severity, message }: Found, root: string): Problem {
  const at = location && getLineColLocation(location);
  return {
    file: at ? placeOf(root, at.source.absoluteRef) : 'redocly.yaml',
    line: at?.start.line,
    column: at?.start.col,
    severity,
    rule: ruleId,
    message: withReference(message.replaceAll(`${root.replace(/\/$/, '')}/`, ''), at),
  };
}

/** Adds the reference to the linter's message about one that it cannot resolve. */
function withReference(message: string, at: ReturnType<typeof getLineColLocation> | undefined): string {
  const unresolved = "Can't resolve $ref";
  if (at === undefined || !message.startsWith(unresolved)) return message;
  const text = at.source
    .getLines()
    .slice(at.start.line - 1)
    .join('\n')
    .slice(at.start.col - 1);
  const [, reference] = /\$ref['"]?: *['"]?([^'"\s,}]+)/.exec(text) ?? [];
  return reference === undefined ? message : message.replace(unresolved, `${unresolved} ${reference}`);
}

function unreadable(error: unknown, root: string, file: string): Problem {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof YamlParseError)) return { file, severity: 'error', message };
  const { source, line, col } = error;
  return { file: placeOf(root, source.absoluteRef), line, column: col, severity: 'error', message };
}

const placeOf = (root: string, file: string) => relative(root, file).split(sep).join('/');
