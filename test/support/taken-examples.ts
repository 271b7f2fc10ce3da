import { expect, test } from 'vitest';
import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Target } from '../../client/conformance/wire/answer.ts';
import { excerpt } from '../../client/conformance/wire/wire.ts';
import { wasTaken } from './cells.ts';
import { exchange } from './exchange.ts';
import { checked } from './expectations.ts';
import { faulty } from './faults.ts';

/**
 * Requests about recordings on the web, or about voices and assets that are there already under the documented ids:
 * the gateway in front of the scripted provider has those.
 */
const scripted: Readonly<Record<string, readonly string[]>> = {
  customizeVoice: ['clone', 'query', 'update', 'delete', 'alpha_clone', 'alpha_query', 'alpha_delete'],
  createVideo: ['seedance_references'],
  createGenericVideo: ['seedance_references'],
  createOfficialVideo: ['references'],
  submitMusic: ['continuation', 'stems'],
  submitImagine: ['reference'],
  submitImageAction: ['upscale', 'inpaint'],
  submitImageModal: ['inpaint', 'custom_zoom'],
};

/** Tests, after all other tests of the operation, that the gateway takes every documented request as it stands. */
export function testExamples(target: Target, operation: DocumentedOperation): void {
  for (const { mediaType, examples } of operation.requests) {
    for (const { name: example } of examples) {
      test(`takes the documented request ${example} (${mediaType})`, async () => {
        if (wasTaken(operation, `${mediaType} ${example}`)) return;
        const caller = scripted[operation.aliasOf ?? operation.id]?.includes(example)
          ? await faulty()
          : target;
        const answer = checked(await exchange(caller, operation, { example, mediaType }), operation);
        expect(answer.status, excerpt(answer)).toBe(200);
      });
    }
  }
}
