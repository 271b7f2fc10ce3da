import { existsSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { API } from 'typescript/unstable/async';
import type { Problem } from '../tools/problem.ts';
import { createImports } from './imports.ts';

/** The type checker, in its own process, and the current problems of each file. */
export interface Types {
  /** Registers changed, created or deleted files. Dependent files become stale. */
  changed(paths: readonly string[]): Promise<void>;
  /** Registers files with unchanged code. No file becomes stale. */
  refresh(paths: readonly string[]): Promise<void>;
  /** Checks the changed files, their importers, the handler registry and files with problems. Returns their number. */
  checkNearest(): Promise<number>;
  /** Checks all other stale files until the signal aborts. Returns their number. */
  checkRest(signal?: AbortSignal): Promise<number>;
  /** Problems of all checked files. */
  problems(): Problem[];
  close(): Promise<void>;
}

/** The file in which the compiler reports a missing handler. */
const registry = 'server/operations/registry.ts';

export async function openTypes(root: string): Promise<Types> {
  const api = new API({ cwd: root });
  const config = join(root, 'tsconfig.json');
  const imports = createImports(root);
  const found = new Map<string, Problem[]>();
  let snapshot = await api.updateSnapshot({ openProjects: [config] });
  const place = (file: string) => relative(root, file).split(sep).join('/');
  const project = () => {
    const one = snapshot.getProject(config);
    if (one === undefined) throw new Error('The compiler did not load tsconfig.json.');
    return one;
  };
  const ownFiles = () => new Set(project().rootFiles.map(place));

  /** Files that changed, or have a changed dependency, since their last check. */
  let stale = ownFiles();
  let nearest = new Set<string>();
  imports.read(stale);

  const notify = async (paths: readonly string[]) => {
    const own = ownFiles();
    const files = { changed: [] as string[], created: [] as string[], deleted: [] as string[] };
    if (paths.length === 0) return;
    for (const path of paths) {
      const file = join(root, path);
      const kind = !existsSync(file) ? 'deleted' : own.has(path) ? 'changed' : 'created';
      files[kind].push(file);
    }
    const before = snapshot;
    snapshot = await api.updateSnapshot({ fileChanges: files });
    // The compiler keeps the program of a snapshot until it is disposed.
    await before.dispose();
  };

  const check = async (path: string) => {
    const file = join(root, path);
    const { program } = project();
    const diagnostics = [
      ...(await program.getSyntacticDiagnostics(file)),
      ...(await program.getSemanticDiagnostics(file)),
    ];
    found.set(
      path,
      diagnostics.map((one) => problemOf(root, path, one)),
    );
    stale.delete(path);
    nearest.delete(path);
  };

  return {
    async changed(paths) {
      await notify(paths);
      imports.read(paths);
      const own = ownFiles();
      stale = stale.union(imports.dependents(paths)).intersection(own);
      nearest = nearest
        .union(imports.direct(paths))
        .union(new Set([...paths, registry]))
        .intersection(stale);
      for (const path of found.keys()) if (!own.has(path)) found.delete(path);
    },
    refresh: notify,
    async checkNearest() {
      const paths = [...nearest];
      await Promise.all(paths.map(check));
      return paths.length;
    },
    async checkRest(signal) {
      let checked = 0;
      for (const path of stale) {
        if (signal?.aborted === true) break;
        await check(path);
        checked++;
      }
      return checked;
    },
    problems: () => [...found.keys()].sort().flatMap((path) => found.get(path) ?? []),
    close: () => api.close(),
  };
}

interface Diagnostic {
  pos: number;
  code: number;
  text: string;
  messageChain?: readonly Diagnostic[] | undefined;
}

function problemOf(root: string, file: string, diagnostic: Diagnostic): Problem {
  const before = readFileSync(join(root, file), 'utf8').slice(0, diagnostic.pos).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return {
    file,
    line: before.length,
    column,
    severity: 'error',
    rule: `TS${diagnostic.code}`,
    message: messageOf(diagnostic),
  };
}

/** The message with its chain of causes, the innermost last. */
const messageOf = ({ text, messageChain = [] }: Diagnostic): string =>
  [text, ...messageChain.map(messageOf)].join(' ');
