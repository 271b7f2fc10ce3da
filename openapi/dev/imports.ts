import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';

/** Import graph of the project's files. Paths are relative to the root, with slashes. */
export interface Imports {
  /** Reads the imports of files. A deleted file has none. */
  read(paths: Iterable<string>): void;
  /** Files that directly import one of these files. */
  direct(paths: Iterable<string>): Set<string>;
  /** These files and all files that depend on them. */
  dependents(paths: Iterable<string>): Set<string>;
}

// Every import within the project is relative and contains the file name.
const relativeImport = /(?:from|import|import\()\s*'(\.[^']+)'/g;

export function createImports(root: string): Imports {
  const importsOf = new Map<string, string[]>();
  const importersOf = new Map<string, Set<string>>();

  const read = (path: string) => {
    for (const name of importsOf.get(path) ?? []) importersOf.get(name)?.delete(path);
    const names = [...textOf(join(root, path)).matchAll(relativeImport)].flatMap(([, name = '']) =>
      withDeclarations(join(dirname(path), name)),
    );
    importsOf.set(path, names);
    for (const name of names) {
      const importers = importersOf.get(name) ?? new Set();
      importersOf.set(name, importers.add(path));
    }
  };

  const direct = (paths: Iterable<string>) =>
    new Set([...paths].flatMap((path) => [...(importersOf.get(path) ?? [])]));

  return {
    read: (paths) => [...paths].forEach(read),
    direct,
    dependents(paths) {
      const found = new Set(paths);
      for (const path of found) for (const importer of importersOf.get(path) ?? []) found.add(importer);
      return found;
    },
  };
}

/** Adds the declaration file of a script, which contains its types. */
const withDeclarations = (path: string) =>
  path.endsWith('.js') ? [path, path.replace(/\.js$/, '.d.ts')] : [path];

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
