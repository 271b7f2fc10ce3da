import { Clapperboard } from 'lucide';
import { requireModels } from '../calls/require-models.tsx';
import './video.css';
import { VideoWorkbench } from './video-workbench.tsx';

/** The playground of videos, in all formats. */
export default requireModels(VideoWorkbench, {
  title: 'Video',
  intro: 'Create videos from a text, images, clips and audio.',
  icon: Clapperboard,
  protocols: ['native_video', 'official', 'eta'],
  kind: 'video',
});
