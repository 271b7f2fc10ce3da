import { expect, test } from 'vitest';
import type { components } from '../../../generated/http.ts';
import { dataOf, listChangesOf } from '../../support/admin.ts';
import { describeOperation } from '../../support/contract.ts';

type Reload = components['schemas']['ReloadReply']['data'];

describeOperation('reloadConfiguration', {
  invalid: { 'a dry run that is not a boolean': { query: { dry_run: 'perhaps' }, field: 'dry_run' } },
  gatewayTests(call) {
    test('changes nothing without a configuration file, and records it', async () => {
      const before = await listChangesOf('configuration');
      const expected = {
        file: null,
        revision: expect.stringMatching(/^[0-9a-f]{12}$/),
        channels: { added: [], changed: [], removed: [], unchanged: ['native-eu'] },
        groups: { added: [], changed: [], removed: [], unchanged: ['default'] },
        prices: { added: [], changed: [], removed: [], unchanged: ['*'] },
        settings: [],
        needs_restart: [],
        warnings: [],
      };
      const { applied, ...changes } = dataOf<Reload>(await call());
      expect({ applied, ...changes }).toEqual({ applied: true, ...expected });
      const [change, ...earlier] = await listChangesOf('configuration');
      expect(earlier).toHaveLength(before.length);
      expect(change).toMatchObject({ action: 'reloadConfiguration', details: { settings: [] } });
      const dryRun = dataOf<Reload>(await call({ query: { dry_run: 'true' } }));
      expect(dryRun).toEqual({ applied: false, ...expected });
      expect(await listChangesOf('configuration')).toHaveLength(before.length + 1);
    });
  },
});
