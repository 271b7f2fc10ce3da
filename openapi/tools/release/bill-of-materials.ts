import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import type { Candidate } from './candidate.ts';

const run = promisify(execFile);

/** The used part of a CycloneDX 1.5 document. */
export interface BillOfMaterials {
  serialNumber: string;
  metadata: { timestamp: string; component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Component {
  'bom-ref': string;
  name: string;
  version: string;
  properties: { name: string; value: string }[];
}

/**
 * Lists the packages that the gateway, its sandbox, the client and the conformance kit need at run time, from the lock
 * file and without a network.
 *
 * `npm sbom --omit dev` would also drop packages that a development tool shares, so this removes only those marked as
 * development packages.
 */
export async function billOfMaterials(root: string, { time, commit }: Candidate): Promise<BillOfMaterials> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--offline'];
  const { stdout } = await run('npm', args, { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const { metadata, components, dependencies, ...rest } = JSON.parse(stdout) as BillOfMaterials;
  const needed = components.filter(({ properties }) =>
    properties.every(({ name }) => name !== 'cdx:npm:package:development'),
  );
  const refs = new Set([metadata.component, ...needed].map((component) => component['bom-ref']));
  return {
    ...rest,
    // npm generates a random serial number.
    serialNumber: `urn:uuid:${uuidOf(commit)}`,
    metadata: {
      ...metadata,
      timestamp: time.toISOString(),
      // npm uses the name of the folder.
      component: { ...metadata.component, name: 'unigate' },
    },
    components: needed,
    dependencies: dependencies
      .filter(({ ref }) => refs.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => refs.has(other)) })),
  };
}

/** A UUID of version 8 (RFC 9562), which allows custom bits. */
function uuidOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
