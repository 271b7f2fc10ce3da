export const usageText = `unigate creates speech, videos, music, images and 3D models through a Unigate gateway.

  unigate speak TEXT --voice VOICE [-o FILE]   synthesize speech; TEXT - reads standard input
  unigate video PROMPT [-o FILE]               create a video; PROMPT - reads standard input
  unigate music PROMPT [-o FILE]               create a song
  unigate lyrics PROMPT [-o FILE]              write lyrics
  unigate image PROMPT [-o FILE]               create a grid of four images, or one of them with --upscale
  unigate model3d PROMPT [-o FILE]             create a 3D model as GLB
  unigate models [--json]                      list the models that the key may use
  unigate voices [--model MODEL] [--json]      list the system voices
  unigate voices clone RECORDING               create a voice from a file or a URL
  unigate voices design DESCRIPTION [-o FILE]  create a voice from a description; FILE receives a preview
  unigate voices list, delete VOICE            manage your own voices
  unigate assets upload URL                    register media for Seedance requests
  unigate assets show ASSET                    show an asset and its status
  unigate admin COMMAND                        administer the gateway, see unigate admin --help

speak:
  -o, --output FILE      output file; - is standard output
      --voice VOICE      id of a voice of the model
      --model MODEL      default alpha3-tts-flash; alpha3-tts-flash-realtime with --realtime,
                         voxa-v3-flash with --duplex
      --format FORMAT    wav, mp3, pcm, opus or flac; default: from the file extension
      --instructions TEXT  speaking style, for instruct models
      --speed FACTOR     1 is normal
      --sample-rate HZ   for models with several sample rates
      --stream           receive the audio while it is generated
      --realtime         use a realtime socket, which accepts text while the audio plays
      --duplex           use an inference socket in the same way

video and model3d:
  -o, --output FILE      output file; - is standard output
      --model MODEL      default gamma3.0-video-prime, or theta-3d for model3d
      --image IMAGE      start image: a URL, for video also a file
      --param KEY=VALUE  additional model parameter; repeatable
      --resume TASK      wait for an existing task and download its file

video:
      --seconds SECONDS  duration; =-1 lets the model choose
      --size SIZE        for example 720P
      --ratio RATIO      for example 16:9
      --first-frame IMAGE, --last-frame IMAGE
      --reference-image IMAGE  reference for people, objects or style; repeatable
      --video URL        reference video or, with eta models, a video to edit
      --no-audio
      --seed SEED

music:
  -o, --output FILE      .mp3 or .wav; - is standard output
      --tags TAGS        styles, such as "folk, slow"
      --title TITLE
      --lyrics LYRICS    lyrics instead of a prompt; @FILE reads a file, - reads standard input
      --instrumental     no vocals
      --both             write both songs of the task, as FILE-1 and FILE-2
      --param KEY=VALUE  additional request field; repeatable
      --resume TASK      also for lyrics and image

image:
  -o, --output FILE      output file; - is standard output
      --upscale NUMBER   upscale one of the four images, 1 to 4
      --reference-image FILE  reference image; repeatable

voices clone and design:
      --model MODEL      model for the voice: default alpha3-tts-vc-2026-01-22 to clone, also from files, and
                         alpha3-tts-vd-2026-01-26 to design; voxa and alpha-audio models clone only from URLs
      --name NAME        part of the voice id; default: from the file name
      --language LANG    default en
      --text TEXT        transcript of the recording, or text of the preview

assets:
      --type TYPE        image, video or audio; default: from the extension of the URL
      --name NAME
      --model MODEL      only zeta-delta-2-0-fast-260128, for its own assets

all commands:
      --base-url URL     default UNIGATE_BASE_URL, or http://127.0.0.1:8080
      --key KEY          default UNIGATE_API_KEY
  -q, --quiet            print only errors on standard error
  -h, --help
  -V, --version

The task id is printed on standard error as soon as the task exists.
Exit codes: 0 success, 1 error, 2 invalid command line, 130 and 143 stopped by a signal.
`;
