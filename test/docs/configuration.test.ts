import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';

test('the configuration in the deployment guide is valid and causes no warnings', async () => {
  const guide = await readFile(new URL('../../openapi/guides/16-deployment.md', import.meta.url), 'utf8');
  const shown = /^```yaml\n([^]*?)^```$/m.exec(guide)?.[1] ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'unigate-guide-'));
  const file = join(folder, 'guide.yaml');
  await writeFile(file, shown);
  const { channels, warnings } = readSettings({
    CONFIG: file,
    NATIVE_EU_KEY: 'k',
    CALLBACK_SECRET: 'whsec_c2VjcmV0IG9mIHRoZSBndWlkZXMgc25pcHBldHM=',
  });
  await rm(folder, { recursive: true });
  expect(channels.map(({ name }) => name)).toEqual(['native-eu']);
  expect(warnings).toEqual([]);
});
