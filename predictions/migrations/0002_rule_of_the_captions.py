from django.db import migrations, models


class Migration(migrations.Migration):
    """Predictions are told apart by the captions that the model read."""

    dependencies = [
        ('predictions', '0001_initial'),
    ]

    operations = [
        migrations.RemoveConstraint(model_name='prediction', name='one_prediction_per_model_and_question'),
        migrations.AddField(
            model_name='prediction',
            name='caption_rule',
            field=models.CharField(default='as-is-v1', max_length=50),
            preserve_default=False,
        ),
        migrations.AddConstraint(
            model_name='prediction',
            constraint=models.UniqueConstraint(
                fields=('model', 'instance', 'kind', 'variant', 'caption_rule'),
                name='one_prediction_per_model_and_question',
            ),
        ),
    ]
