#!/usr/bin/env bash
# A base image for the container tests: pulled when a registry answers, else made here of a minimal Debian and a CPython
# of this machine, which stands in /usr/local as in the official image. Needs podman, and for the second way root and debootstrap.
#   .ci/base-image.sh TAG [FOLDER OF A CPYTHON]
set -euo pipefail

tag=$1 prefix=${2:-}
official=$(sed -n 's/^ARG BASE=//p' "$(dirname "${BASH_SOURCE[0]}")/../Dockerfile")
if podman pull --quiet "$official" >/dev/null 2>&1; then
  podman tag "$official" "$tag"
  exit 0
fi
: "${prefix:?no registry answers, and no folder of a CPython was named}"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
libraries=ca-certificates,netbase,tzdata,libssl3,libffi8,libsqlite3-0,libbz2-1.0,liblzma5,libreadline8,libncursesw6,libuuid1,zlib1g,libexpat1
debootstrap --variant=minbase --include="$libraries" bookworm "$root" >"$work/log" || { tail -n 20 "$work/log" >&2; exit 1; }
mkdir -p "$root/usr/local"
cp -a "$prefix/." "$root/usr/local/"
find "$root/usr/local" \( -name __pycache__ -o -name test -o -name '*.a' \) -prune -exec rm -rf {} +
find "$root/usr/local" -name '*.so*' -type f -exec strip --strip-unneeded {} +
find "$root/usr/local/bin" -type f -exec sed -i '1s,^#!/.*/python,#!/usr/local/bin/python,' {} +
version=$(basename "$(ls -d "$root"/usr/local/lib/python3.*)")
ln -sf "$version" "$root/usr/local/bin/python"
rm -rf "$root"/var/cache/apt/archives/*.deb "$root"/usr/share/locale
chroot "$root" ldconfig
tar -C "$root" --numeric-owner -c . | podman import --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'ENV LANG=C.UTF-8' - "$tag" >/dev/null
