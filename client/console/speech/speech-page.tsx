import { useMemo } from 'preact/hooks';
import { useModelInAddress, useModels } from '../calls/models.ts';
import { contract } from '../contract/contract.ts';
import { Form } from '../contract/form.ts';
import { Tabs } from '../parts/tabs.tsx';
import { PageHead } from '../shell/page-head.tsx';
import { replaceQuery, route } from '../shell/router.ts';
import { CompareTab } from './compare-tab.tsx';
import { GenerateTab } from './generate-tab.tsx';
import { RealtimeTab } from './realtime-tab.tsx';
import { speechSchema } from './speech-family.ts';
import './speech.css';
import { StreamTab } from './stream-tab.tsx';

const modes = ['Generate', 'Stream', 'Realtime', 'Compare'];
const defaultModel = 'voxa-v3-flash';
const defaultText =
  'The tide goes out at six, and the harbor is quiet again. By noon the boats come home, full of silver fish.';

/** Speech as a complete file, as a stream, on a socket, and by several voices. */
export default function SpeechPage() {
  const models = useModels(['synthesizer', 'multimodal', 'inference']);
  const realtime = useModels(['realtime']);
  const { query } = route.value;
  const isRealtime = realtime?.some(({ id }) => id === query.get('model'));
  const mode =
    modes.find((name) => name.toLowerCase() === query.get('mode')) ?? (isRealtime ? 'Realtime' : 'Generate');
  const loaded = contract.value;
  const form = useMemo(() => {
    const known =
      models?.find(({ id }) => id === query.get('model')) ?? models?.find(isDefault) ?? models?.[0];
    if (loaded === undefined || known === undefined) return undefined;
    const voice = query.get('voice') ?? undefined;
    return new Form(loaded, speechSchema(loaded), { model: known.id, voice, input: defaultText });
  }, [loaded, models !== undefined]);
  useModelInAddress(form && models, ({ id }) => form?.set('model', id));
  return (
    <>
      <PageHead title="Speech">Turn text into speech: as a file, as a stream, or while you write.</PageHead>
      <Tabs
        label="Mode"
        names={modes}
        selected={mode}
        onSelect={(name) => replaceQuery({ ...Object.fromEntries(query), mode: name.toLowerCase() })}
      >
        <div class="speech-mode">
          {mode === 'Realtime' && <RealtimeTab />}
          {form && models && mode === 'Generate' && <GenerateTab form={form} models={models} />}
          {form && models && mode === 'Stream' && <StreamTab form={form} models={models} />}
          {form && models && mode === 'Compare' && <CompareTab form={form} models={models} />}
        </div>
      </Tabs>
    </>
  );
}

const isDefault = ({ id }: { id: string }) => id === defaultModel;
