import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parseConfiguration } from '../../server/settings/configuration.ts';

test('the configuration that the guide shows is one', async () => {
  const guide = await readFile(new URL('../../openapi/guides/11-running.md', import.meta.url), 'utf8');
  const shown = /^```yaml\n([^]*?)^```$/m.exec(guide)?.[1] ?? '';
  const environment = {
    NATIVE_EU_KEY: 'k',
    CALLBACK_SECRET: 'whsec_c2VjcmV0IG9mIHRoZSBndWlkZXMgc25pcHBldHM=',
  };
  expect(parseConfiguration('guide.yaml', shown, environment).channels?.map(({ name }) => name)).toEqual([
    'native-eu',
  ]);
});
