import { expect, test } from 'vitest';
import { jsonOf } from '../../support/answer.ts';
import { describeOperation } from '../../support/contract.ts';
import { bundle } from '../../support/documented.ts';

describeOperation('getOpenApiDocument', {
  carriesOut: (call) => {
    test('200 the bundle itself, without a key', async () => {
      const answer = await call({ headers: { authorization: undefined } });
      expect([answer.status, jsonOf(answer)]).toEqual([200, bundle]);
    });
  },
});
