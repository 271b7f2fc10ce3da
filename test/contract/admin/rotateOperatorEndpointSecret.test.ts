import { expect } from 'vitest';
import { listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';
import {
  invalidEndpointId,
  invalidOverlap,
  testRotate,
  testUnknownEndpoint,
} from '../../support/endpoint-tests.ts';

describeOperation('rotateOperatorEndpointSecret', {
  invalid: { ...invalidEndpointId, ...invalidOverlap },
  gatewayTests(call) {
    testRotate(call, 'operator', async (versions) => {
      const changes = JSON.stringify(await listChangesOf(`endpoint ${versions[0]?.id}`));
      for (const { secret } of versions) expect(changes).not.toContain(secret.slice(6));
    });
    testUnknownEndpoint(call, 'operator');
  },
});
