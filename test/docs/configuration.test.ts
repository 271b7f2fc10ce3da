import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readSettings } from '../../server/settings/settings.ts';

test('the configurations in the deployment guide are valid and cause no warnings', async () => {
  const guide = await readFile(new URL('../../openapi/guides/16-deployment.md', import.meta.url), 'utf8');
  const folder = await mkdtemp(join(tmpdir(), 'unigate-guide-'));
  const file = join(folder, 'guide.yaml');
  const shown: string[][] = [];
  for (const [, text = ''] of guide.matchAll(/^```yaml\n([^]*?)^```$/gm)) {
    await writeFile(file, text);
    const { channels, warnings } = readSettings({
      CONFIG: file,
      CHAT_EU_KEY: 'k',
      NATIVE_EU_KEY: 'k',
      CALLBACK_SECRET: 'whsec_c2VjcmV0IG9mIHRoZSBndWlkZXMgc25pcHBldHM=',
    });
    expect(warnings).toEqual([]);
    shown.push(channels.map(({ name }) => name));
  }
  await rm(folder, { recursive: true });
  expect(shown).toEqual([['chat-eu'], ['native-eu']]);
});
