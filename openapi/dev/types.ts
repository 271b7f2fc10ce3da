import { existsSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { API } from 'typescript/unstable/async';
import type { Problem } from '../tools/problem.ts';
import { createImports } from './imports.ts';

/** The compiler, kept warm in a process of its own, and what it has said of each file since that last changed. */
export interface Types {
  /** Tells of files that were changed, made or taken away; those that depend on them have to be checked again. */
  changed(paths: readonly string[]): Promise<void>;
  /** Tells of files whose code is as before, so that nothing has to be checked again. */
  moved(paths: readonly string[]): Promise<void>;
  /** Checks what a change meets first: the files themselves, those that import them, the list of handlers, what was broken. */
  checkNearest(): Promise<number>;
  /** Checks all others, until they are done or the signal comes; gives how many it has checked. */
  checkRest(signal?: AbortSignal): Promise<number>;
  /** What is wrong in all files that were checked. */
  problems(): Problem[];
  close(): Promise<void>;
}

/** Where an operation without a handler is missed. */
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
    if (one === undefined) throw new Error('the compiler does not know tsconfig.json');
    return one;
  };
  const ownFiles = () => new Set(project().rootFiles.map(place));

  /** Not checked since they, or what they import, have changed. */
  let stale = ownFiles();
  let nearest = new Set<string>();
  imports.read(stale);

  const tell = async (paths: readonly string[]) => {
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
    // The compiler keeps the whole program of a snapshot until it is told to let go.
    await before.dispose();
  };

  const check = async (path: string) => {
    const file = join(root, path);
    const { program } = project();
    const said = [
      ...(await program.getSyntacticDiagnostics(file)),
      ...(await program.getSemanticDiagnostics(file)),
    ];
    found.set(
      path,
      said.map((one) => problemOf(root, path, one)),
    );
    stale.delete(path);
    nearest.delete(path);
  };

  return {
    async changed(paths) {
      await tell(paths);
      imports.read(paths);
      const own = ownFiles();
      stale = stale.union(imports.dependents(paths)).intersection(own);
      nearest = nearest
        .union(imports.direct(paths))
        .union(new Set([...paths, registry]))
        .intersection(stale);
      for (const path of found.keys()) if (!own.has(path)) found.delete(path);
    },
    moved: tell,
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

interface Said {
  pos: number;
  code: number;
  text: string;
  messageChain?: readonly Said[] | undefined;
}

function problemOf(root: string, file: string, said: Said): Problem {
  const before = readFileSync(join(root, file), 'utf8').slice(0, said.pos).split('\n');
  const column = (before.at(-1)?.length ?? 0) + 1;
  return {
    file,
    line: before.length,
    column,
    severity: 'error',
    rule: `TS${said.code}`,
    message: told(said),
  };
}

/** The sentence and those that it rests on, the innermost last. */
const told = ({ text, messageChain = [] }: Said): string => [text, ...messageChain.map(told)].join(' ');
