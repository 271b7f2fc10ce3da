import { existsSync } from 'node:fs';
import { findPackageJSON } from 'node:module';
import { join } from 'node:path';

/** Returns the path of the program of the conformance kit. Undefined if the package is not installed. */
export function findKit(): string | undefined {
  try {
    const packageFile = findPackageJSON('@unigate/conformance', import.meta.url);
    const program = packageFile && join(packageFile, '..', 'bin', 'unigate-conformance.js');
    return program !== undefined && existsSync(program) ? program : undefined;
  } catch {
    return undefined;
  }
}
