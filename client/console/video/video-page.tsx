import { Clapperboard } from 'lucide';
import { useModels } from '../calls/models.ts';
import { EmptyState } from '../parts/notices.tsx';
import { PageHead } from '../shell/page-head.tsx';
import './video.css';
import { VideoWorkbench } from './video-workbench.tsx';

/** The playground of videos, in all formats. */
export default function VideoPage() {
  const models = useModels(['native_video', 'official', 'eta']);
  return (
    <>
      <PageHead title="Video">Create videos from a text, images, clips and audio.</PageHead>
      {models?.length === 0 && (
        <EmptyState icon={Clapperboard} title="This key has no video model.">
          <p>Ask the operator of the gateway for one, or sign in with another key.</p>
        </EmptyState>
      )}
      {models !== undefined && models.length > 0 && <VideoWorkbench models={models} />}
    </>
  );
}
