import { expect, inject, test } from 'vitest';
import type { operations } from '../../../generated/http.ts';
import { jsonOf } from '../../conformance/wire/http-response.ts';
import { describeOperation } from '../../support/contract.ts';
import { newMember } from '../../support/members.ts';
import { newUser } from '../../support/operator.ts';
import { signAssertion } from '../../support/user-assertions.ts';

type Reply = operations['createSession']['responses'][200]['content']['application/json'];

describeOperation('createSession', {
  gatewayTests(call) {
    const target = inject('gateway');
    const as = (assertion?: string) => ({
      headers: { authorization: undefined, 'x-unigate-user-assertion': assertion },
    });

    test('200 the session key of a member, which no cache stores', async () => {
      const user = await newUser(target, { name: 'session of a member' });
      const { id, name, role } = await newMember(target, user.id, { name: 'Grace', role: 'billing' });
      const assertion = await signAssertion(user.name, { claims: { member: 'Grace' } });
      const response = await call(as(assertion));
      expect(response.status, response.body.toString()).toBe(200);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const { data } = jsonOf(response) as Reply;
      expect(data).toMatchObject({ user: { id: user.id, name: user.name }, member: { id, name, role } });
      const again = jsonOf(await call(as(assertion))) as Reply;
      expect(again.data).toEqual(data);
    });

    test('401 an assertion that is missing or not valid', async () => {
      expect((await call(as())).status).toBe(401);
      const expired = await call(as(await signAssertion('Ada', { lifetime: -60 })));
      expect(expired.status).toBe(401);
      expect(jsonOf(expired)).toEqual({ success: false, message: 'exp: the user assertion has expired.' });
    });

    test('403 a user that does not exist', async () => {
      const response = await call(as(await signAssertion('nobody has this name')));
      expect(response.status).toBe(403);
      expect(jsonOf(response)).toMatchObject({ message: 'sub: there is no user with this name.' });
    });
  },
});
